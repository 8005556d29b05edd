"""The catalogues hold every text of the code; the language is the person's."""

import json
import string
from pathlib import Path

import pytest

from languages import translate
from languages.translate import LANGUAGES, catalogue, of_browser, of_system, tr
from support.texts import texts

HERE = Path(__file__).parents[2]


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "en"])
def test_a_catalogue_is_complete(name):
    held = catalogue(name)
    assert {text: file for text, file in texts().items() if text not in held} == {}
    assert {text: found for text, found in held.items() if fields(text) != fields(found) or not found.strip()} == {}


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "en"])
def test_a_text_is_translated_in_one_way(name):
    seen = {}
    for path in sorted((HERE / "languages" / name).glob("*.json")):
        for text, found in json.loads(path.read_text(encoding="utf-8")).items():
            assert seen.setdefault(text, found) == found, (path.name, text)


@pytest.mark.parametrize(
    "header, language",
    [("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("de,en-GB;q=0.7,zh;q=0.3", "en"), ("en;q=0.2, zh-Hant-TW;q=0.5", "zh"),
     ("de", "en"), ("", "en"), ("zh;q=9,;;,\x00", "en"), ("z" * 10_000, "en"),
     ("zh;q=0, de", "en"), ("zh;q=0.0, en;q=0.1", "en")],
)  # fmt: skip
def test_the_language_of_a_browser(monkeypatch, header, language):
    for key in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(key, raising=False)
    assert of_browser(header) == language


@pytest.mark.parametrize(
    "given, language",
    [({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"), ({"LANGUAGE": "zh:en"}, "zh"),
     ({"LANGUAGE": "yue_HK:zh_TW:en"}, "zh"), ({"LANGUAGE": "en_GB:zh"}, "en"),
     ({"LANG": "de_DE"}, "en"), ({}, "en")],
)  # fmt: skip
def test_the_language_of_the_system(monkeypatch, given, language):
    for key in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(key, raising=False)
    for key, value in given.items():
        monkeypatch.setenv(key, value)
    assert of_system() == language


def test_a_text_is_shown_in_the_language_of_its_tab(monkeypatch):
    monkeypatch.setattr(translate, "catalogue", lambda name: {"{n} moves": "{n} 手"} if name == "zh" else {})
    assert tr("{n} moves", n=3) == "3 moves"
    monkeypatch.setattr(translate, "of_tab", [lambda: "zh"])
    assert tr("{n} moves", n=3) == "3 手" and tr("unknown {") == "unknown {"
    token = translate.chosen.set("en")
    assert tr("{n} moves", n=3) == "3 moves"
    translate.chosen.reset(token)
