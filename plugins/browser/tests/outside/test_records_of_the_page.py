"""The page reads files of games as the program reads them, and the program what the page writes."""

import json
import shutil

import numpy as np
import pytest

import games
from config import UserError
from games.line_of_moves import follow, starting_at, stones_of
from plugins.browser.game_facts import game_facts
from plugins.browser.tests.scripts import answer
from storage import game_files

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
SCRIPTS = "words.js", "grid.js", "draw.js", "records.js"
GO, HEX = games.make("go(size=9,komi=7.5)"), games.make("hex(size=5)")
READ = """given.map(({ form, text, ends }) => {
  try {
    const record = fromFile(`game.${form}`, text), end = ends ?? { over: false };
    const result = resultOf(record, end);
    const saved = { ...record, result: result?.winner ?? null, stated: result?.stated ?? "", date: "2026-12-31" };
    const turns = record.moves.map((_, i) => ({ player: i % 2 ? -1 : 1 }));
    return { ...record, setup: record.setup && setupJson(record.setup), result: saved.result, stated: saved.stated,
      json: toJson(saved), sgf: toSgf(saved, [...turns, end]) };
  } catch (error) {
    return error.message;
  }
})"""


def read_by_the_page(game, files):
    """Return what the page reads of {form, text} files, and writes of it; of a faulty file its line."""
    return answer(SCRIPTS, game_facts(game), files, READ)


def end_of(record):
    """Return the end of a game as the page has it."""
    *_, end = follow(record.game, record.moves)
    value = end.value * end.playerTurn
    score = list(end.score) if end.playerTurn == 1 else list(end.score)[::-1]
    return {"over": end.isEndGame, "result": (value > 0) - (value < 0) if end.isEndGame else None, "score": score}


def test_a_result_that_a_file_states_is_kept_and_saved_as_the_program_keeps_it():
    files = []
    for line in (";B[ee];W[];B[]", ";B[ee];W[cc]"):  # over by two passes with B+73.5, and not over
        for words in "B+73.5 B+70 W+3.5 W+R W+T B+ white_wins Black_wins 0 0-1 Draw jigo ?".split() + [""]:
            text = f"(;GM[1]SZ[9]KM[7.5]RE[{words.replace('_', ' ')}]{line})"
            record = game_files.from_bytes(text.encode(), ".sgf", GO)
            files.append({"form": "sgf", "text": text, "ends": end_of(record)})
    for file, found in zip(files, read_by_the_page(GO, files), strict=True):
        expected = game_files.from_bytes(file["text"].encode(), ".sgf", GO)
        stated = expected.stated.get("result", "") if expected.result is not None else ""
        assert found["result"] == expected.result, file
        for form in ("json", "sgf"):
            again = game_files.from_bytes(found[form].encode(), f".{form}", GO)
            assert (again.moves, again.result) == (expected.moves, expected.result), file
            if expected.result is not None and any("is kept" in note for note in expected.notes):
                assert again.stated == {"result": stated} and found["stated"] == stated, file
    records = [game_files.from_bytes(file["text"].encode(), ".sgf", GO) for file in files]
    for file, record in zip(files, records, strict=True):
        file |= {"form": "json", "text": game_files.to_bytes(record, ".json").decode()}
    assert [found["result"] for found in read_by_the_page(GO, files)] == [record.result for record in records]


def test_another_komi_is_known_as_by_the_program_and_kept():
    komis = "7.5 7,5 7.50 750 375 350 3.75 +7.5 6.5 650 0 nothing 1000".split()
    files = [{"form": "sgf", "text": f"(;GM[1]SZ[9]KM[{komi}];B[ee])"} for komi in komis]
    found = read_by_the_page(GO, files)
    for file, read in zip(files, found, strict=True):
        assert read["moves"] == [40], file
        try:
            game_files.from_bytes(file["text"].encode(), ".sgf", GO)
            assert read["komi"] == "", file
        except UserError as error:
            assert read["komi"] == str(error).split("got ")[1]
    assert sum(read["komi"] != "" for read in found) == 6


def test_a_handicap_is_set_up_as_by_the_program_and_one_with_points_is_refused():
    heads = "HA[2]AB[aa][bb]", "HA[2]AB[aa][bb]PL[B]", "AB[aa][bb]", "HA[2]", "HA[0]", "AB[aa]AW[bb]PL[2]"
    lines = "", ";W[ee];B[dd]", ";B[cc];W[];B[gg];W[ee]", ";B[cc];W[ee]"
    files = [
        {"form": "sgf", "text": f"(;GM[1]SZ[9]KM[7.5]RU[{rules}]{head}{line})"}
        for head in heads
        for line in lines
        for rules in ("Japanese", "Chinese", "AGA")
    ]
    for file, found in zip(files, read_by_the_page(GO, files), strict=True):
        record = game_files.from_bytes(file["text"].encode(), ".sgf", GO)
        start = record.game.start()
        if points := record.game.handicap_points(start):
            assert found == f"White has {points:g} points for the handicap, which this page does not count."
            continue
        if start.playerTurn == -1 and not stones_of(start).any():
            continue  # the page refuses a game in which White begins
        if record.moves and "the other passes" in " ".join(record.notes):
            continue  # and a side that moves twice
        setup = json.loads(game_files.to_bytes(record, ".json")).get("setup")
        assert (found["setup"], found["moves"]) == (setup, record.moves), file
    setup = {"black": ["c3"], "white": [], "turn": "white", "points": 2}
    text = json.dumps({"game": GO.spec, "moves": [], "setup": setup})
    assert read_by_the_page(GO, [{"form": "json", "text": text}]) == [
        "White has 2 points for the handicap, which this page does not count."
    ]


def test_stones_set_up_in_hex_pass_between_page_and_program():
    board = np.zeros((5, 5), np.int8)
    board[1, 2], board[3, 0] = 1, -1
    game = starting_at(HEX, HEX.set_up(board, 1))
    record = game_files.Record(game, [HEX.parse_move("b4")])
    text = game_files.to_bytes(record, ".sgf").decode()
    letters = text.replace("AB[c2]", "AB[cb]").replace("AW[a4]", "AW[ad]")  # as the page once wrote them
    assert letters != text
    block = text.replace("AB[c2]", "AB[c2:d2]")
    found = read_by_the_page(HEX, [{"form": "sgf", "text": one} for one in (text, letters, block)])
    setup = json.loads(game_files.to_bytes(record, ".json"))["setup"]
    for one in found[:2]:
        assert one["setup"] == setup and one["moves"] == record.moves
        again = game_files.from_bytes(one["sgf"].encode(), ".sgf", HEX)
        assert stones_of(again.game.start()).tolist() == board.tolist() and again.moves == record.moves
    assert found[2]["setup"]["black"] == ["c2", "d2"]
