"""Makes a package's guides self-contained: links to files that the package lacks become plain text.

    papers.py FOLDER

A guide links to sources, tests and other files of the project that a package does not contain. Of such a link the words stay, followed by
the file's name if the words lack it.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def is_there(paper, target):
    """Whether a relative link leads to a file or folder of the package."""
    path = target.split("#")[0]
    return not path or (paper.parent / path).exists()


def whole(paper):
    """The text of a paper without links that lead nowhere."""

    def replaced(match):
        words, target = match.groups()
        if re.match(r"[a-z]+:", target) or is_there(paper, target):
            return match.group(0)
        name = target.split("#")[0].rsplit("/", 1)[-1]
        return words if name in words or not name else f"{words} (`{name}`)"

    return LINK.sub(replaced, paper.read_text())


def dead(paper):
    """The links and pictures of a paper that lead nowhere."""
    text = paper.read_text()
    targets = [target for _, target in LINK.findall(text)] + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    return [t for t in targets if not re.match(r"[a-z]+:", t) and not is_there(paper, t)]


def main():
    papers = sorted(pathlib.Path(sys.argv[1]).rglob("*.md"))
    for paper in papers:
        paper.write_text(whole(paper))
    lost = [f"{paper}: {target}" for paper in papers for target in dead(paper)]
    if lost:
        raise SystemExit("links that lead nowhere:\n" + "\n".join(lost))


main()
