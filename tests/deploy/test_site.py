"""The site of the documents: every page is in its navigation, and nothing in it is fetched from elsewhere."""

import re
from pathlib import Path

import yaml

from deploy.docs import __main__ as site
from deploy.docs import links, llms, tabs
from muisti.service.schemas.errors import KINDS

ROOT = Path(__file__).parents[2]
PAGES, FILES = site.collect(ROOT)
CONFIG = yaml.safe_load(site.CONFIG.read_text("utf-8"))
SECTIONS = site.sections(CONFIG["nav"])
LISTED = {name for names in SECTIONS.values() for name in names}


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page():
    assert {name for name in PAGES if not re.match(r"reference/errors/(?!index)", name)} == LISTED


def test_each_error_code_has_a_page_that_says_what_to_do():
    for code in KINDS:
        page = PAGES[f"reference/errors/{code}.md"]
        assert f'"code": "{code}"' in page and "| What to do | " in page
        assert f"](errors/{code}.md)" in PAGES["reference/http.md"]


def test_links_of_pages_lead_to_pages_pictures_or_copies_of_files():
    assert FILES and all((ROOT / path).exists() for path in FILES)
    for name, text in PAGES.items():
        for target in re.findall(links.LINK, links.FENCED.sub("", text)):
            if "://" in target[1] or target[1].startswith("mailto:"):
                continue
            found = (ROOT / "docs" / name).parent.joinpath(target[1]).resolve().relative_to(ROOT / "docs").as_posix()
            copied = found.removeprefix(f"{links.FILES}/").removesuffix("/index.md")
            assert found in PAGES or (ROOT / "docs" / found).exists() or copied in FILES, f"{name}: {target[1]}"


def test_titled_blocks_become_tabs_and_others_stay():
    page = tabs.tabbed(PAGES["how-to/recipes.md"])
    assert page.count('=== "Python"') == PAGES["how-to/recipes.md"].count('title="Python"') > 0
    assert "title=" not in page and "\n```text\n" in page


def test_llms_txt_names_each_page_with_its_first_sentence():
    text = llms.index(SECTIONS, PAGES)
    assert all(f"]({name}): " in text for name in LISTED)
    assert text.index("start/tutorial.md") < text.index("reference/cli.md")
    assert llms.full(PAGES, sorted(PAGES)).count("<!-- ") >= len(PAGES)


def test_assets_fetch_nothing_and_the_configuration_names_no_other_host():
    for path in site.CONFIG.parent.glob("assets/*"):
        text = path.read_text("utf-8")
        assert "@import" not in text and "url(http" not in text and "unpkg.com" not in text, path
    assert CONFIG["theme"]["font"] is False and CONFIG["strict"] is True
    assert "://" not in site.CONFIG.read_text("utf-8")
