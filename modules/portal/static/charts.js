// Makes a chart of each table of figures, with the table below it. Without this script the table stands there alone.

const HEIGHT = 260, LEAST_WIDTH = 240; // pixels
const LETTER = 7; // pixels, on the mean
const MINUTE = 60, HOUR = 3600, A_DAY = 86400, MONTH = 30 * A_DAY, YEAR = 365 * A_DAY;
const TIMES = [
    1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
    ...[1, 2, 3, 5, 10, 15].map((n) => n * A_DAY), ...[1, 2, 3, 6].map((n) => n * MONTH),
    ...[1, 2, 5, 10].map((n) => n * YEAR),
];
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();
const DASHES = { failed: [10, 4], ahead: [3, 4], end: [12, 3, 3, 3] };
const BAND = "90 % interval";
const charts = new Map(); // by the id of their figure
let focused = null;

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });
const seconds = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat([], { day: "numeric", month: "short" });
const year = new Intl.DateTimeFormat([], { year: "numeric" });
const number = new Intl.NumberFormat([]);

function colour(figure, name) {
    return getComputedStyle(figure).getPropertyValue(name).trim();
}

// A time, `at` seconds since 1970; to the second in a chart of less than an hour.
function timeText(told, at) {
    const isShort = told.xs.at(-1) - told.xs[0] < HOUR;
    return `${day.format(at * 1000)}, ${(isShort ? seconds : clock).format(at * 1000)}`;
}

// Ticks that all say something else: the day is below its first one, or before each on an upright axis.
function tickTexts(ticks, step, isUpright) {
    const isOneDay = new Set(ticks.map((at) => day.format(at * 1000))).size === 1;
    let before = "";
    return ticks.map((at) => {
        const [text, wider] = step >= A_DAY ? [day, year] : [step < MINUTE ? seconds : clock, day];
        const [told, around] = [text.format(at * 1000), wider.format(at * 1000)];
        const isNew = around !== before;
        before = around;
        if (isUpright) return isOneDay || step >= A_DAY ? told : `${around} ${told}`;
        return isNew ? `${told}\n${around}` : told;
    });
}

function readTable(figure) {
    const kind = figure.dataset.chart;
    const at = (time) => Date.parse(time.dateTime) / 1000;
    const value = (cell) => {
        const time = cell.querySelector("time");
        if (time) return at(time);
        const figure = cell.querySelector("data");
        return figure === null ? null : Number(figure.value);
    };
    const rows = [...figure.querySelectorAll("tbody tr")];
    const series = [...figure.querySelectorAll("th[data-series]")].map((head, place) => ({
        kind: head.dataset.series,
        name: head.textContent.trim(),
        values: rows.map((row) => value(row.cells[place + 1])),
    }));
    const xs = rows.map((row) => at(row.cells[0].querySelector("time")));
    if (figure.dataset.end) {
        const end = Date.parse(figure.dataset.end) / 1000;
        series.push({ kind: "end", name: "real end", values: xs.map(() => end) });
    }
    return { kind, xs, series, unit: figure.dataset.unit, top: Number(figure.dataset.top ?? 0) };
}

// What its switches are called: both edges of a band have one.
function switchOf(series) {
    return series.kind === "low" || series.kind === "high" ? BAND : series.name;
}

function hiddenIn(figure) {
    return new Set(JSON.parse(sessionStorage.getItem(figure.id) ?? "[]"));
}

// Areas differ by their hatching, too.
function hatching(tint, place) {
    const size = 10 * devicePixelRatio;
    const tile = document.createElement("canvas");
    tile.width = tile.height = size;
    const pen = tile.getContext("2d");
    pen.scale(devicePixelRatio, devicePixelRatio);
    pen.fillStyle = pen.strokeStyle = tint;
    pen.globalAlpha = [0.65, 0.3, 0.3, 0.12][place % 4];
    pen.fillRect(0, 0, 10, 10);
    pen.globalAlpha = 0.8;
    pen.lineWidth = 1.5;
    pen.beginPath();
    const lines = [[], [[-2, 12, 12, -2], [-2, 2, 2, -2], [8, 12, 12, 8]], [[0, 5, 10, 5], [5, 0, 5, 10]], []];
    for (const [left, top, right, bottom] of lines[place % 4]) {
        pen.moveTo(left, top);
        pen.lineTo(right, bottom);
    }
    pen.stroke();
    return pen.createPattern(tile, "repeat");
}

function paintOf(figure, told, series) {
    const tint = colour(figure, `--chart-${series.kind}`);
    if (told.kind === "stack") return { tint, dash: [], width: 1.5, fill: hatching(tint, told.series.indexOf(series)) };
    const isEdge = switchOf(series) === BAND;
    return { tint, dash: DASHES[series.kind] ?? [], width: isEdge ? 1 : 2, fill: isEdge ? `${tint}33` : undefined };
}

function paintSwatch(figure, told, series, swatch) {
    const { tint, dash, fill, width } = paintOf(figure, told, series);
    [swatch.width, swatch.height] = [26 * devicePixelRatio, 12 * devicePixelRatio];
    const pen = swatch.getContext("2d");
    pen.strokeStyle = tint;
    if (fill) {
        pen.fillStyle = fill;
        pen.fillRect(0, 0, swatch.width, swatch.height);
    }
    pen.scale(devicePixelRatio, devicePixelRatio);
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    const height = fill ? pen.lineWidth / 2 : 6;
    pen.moveTo(0, height);
    pen.lineTo(26, height);
    pen.stroke();
}

// One on the other; an empty row ends an area where it stands.
function stackUp(xs, shown) {
    const [across, sums] = [[], shown.map(() => [])];
    xs.forEach((x, row) => {
        const isEmpty = shown.every((series) => series.values[row] === null);
        if (isEmpty && row > 0) {
            across.push(x);
            for (const sum of sums) sum.push(sum.at(-1) ?? null);
        }
        across.push(x);
        let height = 0;
        shown.forEach((series, place) => {
            height += series.values[row] ?? 0;
            sums[place].push(isEmpty ? null : height);
        });
    });
    return [across, sums];
}

function plotOptions(figure, told, shown, width) {
    const isEnds = told.kind === "ends";
    const range = (_, least, most) => (isEnds ? endsRange(told, shown) : [0, Math.max(most ?? 0, told.top, 1) * 1.05]);
    return {
        width,
        height: HEIGHT,
        legend: { show: false },
        padding: [12, 16, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { show: told.kind !== "stack" } },
        scales: { x: { range: (_, least, most) => [least, Math.max(most, least + 2)] }, y: { time: isEnds, range } },
        axes: axesOf(figure, told),
        series: [{}, ...shown.map((series) => lineOf(figure, told, series))],
        bands: told.kind === "stack" ? shown.slice(1).map((_, below) => ({ series: [below + 2, below + 1] }))
            : intervalBand(figure, told, shown),
        hooks: { setCursor: [(plot) => tellPoint(plot, figure, told, shown)] },
    };
}

function axesOf(figure, told) {
    const isEnds = told.kind === "ends", font = "12px system-ui, sans-serif";
    const [stroke, line] = [colour(figure, "--weak"), { stroke: colour(figure, "--line"), width: 1 }];
    const axis = { stroke, font, labelFont: font, labelSize: 18, grid: line, ticks: { ...line, size: 5 } };
    const ofTime = (isUpright) => (_, ticks, __, ___, step) => tickTexts(ticks, step, isUpright);
    const ofNumbers = (_, ticks) => ticks.map((tick) => number.format(tick));
    const widest = (_, texts) => 14 + LETTER * Math.max(1, ...(texts ?? []).map((text) => text.length));
    const across = { ...axis, incrs: TIMES, space: 90, size: 42, values: ofTime(false) };
    const upright = { ...axis, space: 36, label: told.unit, size: widest };
    return [
        isEnds ? { ...across, label: "forecast at" } : across,
        isEnds ? { ...upright, incrs: TIMES, values: ofTime(true) } : { ...upright, incrs: WHOLE, values: ofNumbers },
    ];
}

function lineOf(figure, told, series) {
    const { tint, dash, fill, width } = paintOf(figure, told, series);
    const line = { label: series.name, stroke: tint, width, dash, points: { fill: colour(figure, "--ground") } };
    if (told.kind !== "stack") return line;
    return { ...line, fill, paths: uPlot.paths.stepped({ align: 1, alignGaps: 1 }), points: { show: false } };
}

// The late end is above the early one where ends are drawn; of tasks, more are done if they are early.
function intervalBand(figure, told, shown) {
    const [low, high] = ["low", "high"].map((kind) => 1 + shown.findIndex((series) => series.kind === kind));
    if (!low || !high) return [];
    const { fill } = paintOf(figure, told, shown[low - 1]);
    return [{ series: told.kind === "ends" ? [high, low] : [low, high], fill }];
}

// All ends that were expected; of their intervals not more than as much again.
function endsRange(told, shown) {
    const known = (kinds) => shown.filter((series) => kinds.includes(series.kind))
        .flatMap((series) => series.values).filter((at) => at !== null);
    const ends = known(["ahead", "end"]), all = known(["ahead", "end", "low", "high"]);
    if (all.length === 0) return [told.xs[0], told.xs.at(-1)];
    const firm = ends.length ? ends : all;
    const [first, last] = [Math.min(...firm), Math.max(...firm)];
    const more = Math.max(last - first, told.xs.at(-1) - told.xs[0], 2);
    const [low, high] = [Math.max(Math.min(...all), first - more), Math.min(Math.max(...all), last + more)];
    const margin = Math.max((high - low) * 0.06, 1);
    return [low - margin, high + margin];
}

// The values below the pointer; an area holds until the next row.
function tellPoint(plot, figure, told, shown) {
    const tip = plot.over.querySelector(".tip");
    const { left, idx } = plot.cursor;
    if (!tip) return;
    tip.hidden = left < 0 || idx === null || idx === undefined;
    if (tip.hidden) return;
    const at = plot.posToVal(left, "x");
    const past = told.xs.findLastIndex((x) => x <= at);
    const nearest = told.xs.reduce((best, x, row) => (Math.abs(x - at) < Math.abs(told.xs[best] - at) ? row : best), 0);
    const row = told.kind === "stack" ? Math.max(past, 0) : nearest;
    if (tip.dataset.row !== String(row)) tip.replaceChildren(...pointLines(figure, told, shown, row));
    tip.dataset.row = row;
    const [right, room] = [left + 12, plot.over.clientWidth - tip.offsetWidth];
    tip.style.left = `${right <= room ? right : Math.max(left - 12 - tip.offsetWidth, Math.min(0, room))}px`;
}

function pointLines(figure, told, shown, row) {
    const values = shown.map((series) => [series, series.values[row]]).filter(([, value]) => value !== null);
    const lines = values.map(([series, value]) => {
        const line = document.createElement("div");
        const swatch = document.createElement("canvas");
        paintSwatch(figure, told, series, swatch);
        line.append(swatch, ` ${series.name}: ${told.kind === "ends" ? timeText(told, value) : number.format(value)}`);
        return line;
    });
    const head = document.createElement("strong");
    head.textContent = timeText(told, told.xs[row]);
    const sum = values.reduce((total, [, value]) => total + value, 0);
    const isSummed = told.kind === "stack" && values.length > 1;
    const foot = values.length === 0 ? "nothing is known" : isSummed ? `together: ${number.format(sum)}` : "";
    return [head, ...(told.kind === "stack" ? lines.reverse() : lines), foot];
}

function drawPlot(chart) {
    const { figure, told, place } = chart;
    const cursor = chart.plot?.cursor;
    chart.plot?.destroy();
    const hidden = hiddenIn(figure);
    const shown = told.series.filter((series) => !hidden.has(switchOf(series)));
    const values = shown.map((series) => series.values);
    const [xs, columns] = told.kind === "stack" ? stackUp(told.xs, shown) : [told.xs, values];
    const width = Math.max(place.clientWidth, LEAST_WIDTH);
    chart.plot = new uPlot(plotOptions(figure, told, shown, width), [xs, ...columns], place);
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    chart.plot.over.append(tip);
    if (cursor?.left >= 0) chart.plot.setCursor({ left: cursor.left, top: cursor.top });
    for (const button of chart.switches.children) {
        const series = told.series.find((one) => switchOf(one) === button.dataset.switch);
        button.setAttribute("aria-pressed", String(!hidden.has(button.dataset.switch)));
        paintSwatch(figure, told, series, button.firstChild);
    }
}

function makeSwitches(chart) {
    for (const name of new Set(chart.told.series.map(switchOf))) {
        const button = document.createElement("button");
        button.type = "button";
        button.dataset.switch = name;
        button.append(document.createElement("canvas"), name);
        button.firstChild.setAttribute("aria-hidden", "true");
        button.addEventListener("click", () => {
            const hidden = hiddenIn(chart.figure);
            if (!hidden.delete(name)) hidden.add(name);
            sessionStorage.setItem(chart.figure.id, JSON.stringify([...hidden]));
            drawPlot(chart);
        });
        chart.switches.append(button);
    }
}

function makeChart(figure) {
    const before = charts.get(figure.id);
    const told = readTable(figure), figures = figure.querySelector(".figures");
    const [place, switches, below] = ["div", "div", "details"].map((name) => document.createElement(name));
    place.className = "plot";
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `${figure.getAttribute("aria-label")}; the figures are below it as a table`);
    switches.className = "switches";
    switches.setAttribute("role", "group");
    switches.setAttribute("aria-label", "shown in the chart");
    below.open = before?.below.open ?? false;
    const summary = document.createElement("summary");
    summary.textContent = "the figures as a table";
    below.append(summary, figures);
    figure.append(place, switches, below);
    const chart = { figure, told, place, switches, below, plot: before?.plot };
    makeSwitches(chart);
    drawPlot(chart);
    charts.set(figure.id, chart);
    new ResizeObserver(() => {
        const width = Math.max(place.clientWidth, LEAST_WIDTH);
        if (width !== chart.plot.width) chart.plot.setSize({ width, height: HEIGHT });
    }).observe(place);
}

// After page.js, which writes times to the minute.
function writeTimes() {
    for (const { told, below } of charts.values()) {
        for (const time of below.querySelectorAll("time")) {
            time.textContent = timeText(told, Date.parse(time.dateTime) / 1000);
        }
    }
}

function drawAll() {
    for (const figure of document.querySelectorAll("figure.chart")) {
        if (charts.get(figure.id)?.figure !== figure) makeChart(figure);
    }
    for (const [id, chart] of charts) {
        if (chart.figure.isConnected) continue;
        chart.plot.destroy();
        charts.delete(id);
    }
    writeTimes();
}

function rememberFocus() {
    const button = document.activeElement.closest("[data-switch]");
    focused = button && [button.closest("figure").id, button.dataset.switch];
}

function focusAgain() {
    if (!focused || document.activeElement !== document.body) return;
    const [id, name] = focused;
    [...(charts.get(id)?.switches.children ?? [])].find((button) => button.dataset.switch === name)?.focus();
}

drawAll();
document.addEventListener("htmx:beforeSwap", rememberFocus);
document.addEventListener("htmx:afterSwap", () => {
    drawAll();
    focusAgain();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach(drawPlot));
