"""Pages for people lead somewhere, and list what there is."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED = re.compile(r"`((?:cigri|modules|tests|scripts|etc|migrations)/[\w./-]*)`")
DECISIONS = ROOT / "docs" / "adr"


def headings(page: Path) -> set[str]:
    """What a link may name behind `#`, as GitHub does."""
    text = page.read_text()
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles} | set(
        re.findall(r'<a id="([^"]+)">', text)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if "://" in link:
            continue
        name, _, place = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not place or place in headings(target), link


@pytest.mark.parametrize(
    "page", [ROOT / "CONTRIBUTING.md", *sorted(DECISIONS.glob("*.md"))], ids=lambda page: page.name
)
def test_each_file_named_for_developers_is_there(page: Path) -> None:
    for name in NAMED.findall(page.read_text()):
        assert "NAME" in name or "NNNN" in name or (ROOT / name).exists(), name


def test_each_decision_is_listed_under_its_number_and_title() -> None:
    pages = sorted(DECISIONS.glob("0*.md"))
    listed = re.findall(r"^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$", (DECISIONS / "README.md").read_text(), re.MULTILINE)
    assert [(int(number), name, title) for number, name, title in listed] == [
        (number, page.name, page.read_text().splitlines()[0].removeprefix(f"# {number}. "))
        for number, page in enumerate(pages, start=1)
    ]


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    released = re.findall(r"^## (\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert released[0] == project["version"]


def test_each_word_of_the_glossary_has_one_meaning() -> None:
    words = []
    for part in (ROOT / "docs" / "reference" / "glossary.md").read_text().split("\n## ")[1:]:
        rows = re.findall(r"^\| (.+?) \| .+ \|$", part, re.MULTILINE)[2:]
        assert rows == sorted(rows, key=str.lower)
        words += rows
    assert len(words) == len(set(words))


def test_hooks_run_what_the_tests_begin_with() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    script = (ROOT / "scripts" / "test").read_text()
    for hook in local["hooks"]:
        command = hook["entry"].removeprefix(".venv/bin/")
        stage = rf"^stage \w+ {re.escape(command)}( >.*)?$"
        in_both = f"    {command}\n" in script and re.search(stage, script, re.MULTILINE)
        assert in_both or command == "scripts/test --quick", command


def test_the_index_lists_each_page_once() -> None:
    docs = ROOT / "docs"
    listed = [(docs / link.partition("#")[0]).resolve() for link in LINK.findall((docs / "README.md").read_text())]
    pages = {page for page in docs.rglob("*.md") if page.parent.name != "adr"} - {docs / "README.md"}
    assert sorted(listed) == sorted(
        {*pages, docs / "adr" / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"}
    )
