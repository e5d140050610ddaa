"""What if a campaign were submitted now: the grid as it stands, played on to the campaign's end, several times."""
