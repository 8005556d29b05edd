"""Which texts of a page's scripts go over several lines: none may, as lines lose what indents them."""


def texts_over_lines(script):
    """Yield the lines of a script that end within a text in backticks (`${...}` in it is code and may go on)."""
    inside = []  # what is open: "`" a text, "{" code within one, with the braces open in it
    for line in script.split("\n"):
        at = 0
        while at < len(line):
            text = inside and inside[-1] == "`"
            if line[at] == "\\":
                at += 1
            elif line[at] == "`":
                inside.pop() if text else inside.append("`")
            elif text:
                if line.startswith("${", at):
                    inside.append("{")
                    at += 1
            elif line.startswith("//", at):
                break
            elif line[at] in "'\"":
                at = line.find(line[at], at + 1) if line.find(line[at], at + 1) > 0 else len(line)
            elif line[at] == "{" and inside:
                inside.append("{")
            elif line[at] == "}" and inside:
                inside.pop()
            at += 1
        if inside and inside[-1] == "`":
            yield line
