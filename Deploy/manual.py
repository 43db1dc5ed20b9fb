#!/usr/bin/env python3
"""Writes the manual pages of a program from its own command line.

    manual.py PROGRAM FOLDER

The program tells its commands with --experimental-dump-help (swift-argument-parser). There is a page for the program and one
for each of its commands, with their subcommands: pushmta(1), pushmta-delivery(1).
"""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path


def escaped(text):
    """Text as mdoc takes it: no line of it is a macro, and a dash is a dash."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def names(argument):
    """The spellings of an option, the short one first: -h, --help."""
    spelled = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument.get("names", [])]
    return sorted(spelled, key=len)


def paragraph(text):
    return [line for block in (text or "").split("\n\n") if block.strip() for line in (".Pp", escaped(block.strip()))]


def option_lines(argument):
    spelled, value = names(argument), argument.get("valueName", "")
    if argument["kind"] == "flag":
        head = " , ".join("Fl \\&" + escaped(name[1:]) for name in spelled)
    elif spelled:
        head = " , ".join("Fl \\&" + escaped(name[1:]) + " Ar " + escaped(value) for name in spelled)
    else:
        head = "Ar " + escaped(value)
    lines = [".It " + head]
    abstract = argument.get("abstract", "")
    if argument.get("discussion"):
        abstract += " " + argument["discussion"]
    if argument.get("allValues"):
        abstract += " Values: " + ", ".join(argument["allValues"]) + "."
    if argument.get("defaultValue"):
        abstract += " Default: " + argument["defaultValue"] + "."
    return lines + ([escaped(abstract.strip())] if abstract.strip() else [])


def usage(path, command):
    parts = [".Nm " + escaped(" ".join(path))]
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True) or argument.get("valueName") in ("help", "version"):
            continue
        spelled, value = names(argument), argument.get("valueName", "")
        text = "Ar " + escaped(value)
        if spelled:
            text = "Fl \\&" + escaped(spelled[-1][1:]) + ("" if argument["kind"] == "flag" else " " + text)
        parts.append((".Op " if argument.get("isOptional") else ".") + text)
    if command.get("subcommands"):
        parts += [".Ar subcommand", ".Op Ar ..."]
    return parts


def section(path, command, level):
    lines = []
    if level:
        lines += [".Ss " + escaped(" ".join(path)), escaped(command.get("abstract", "")), ".Pp"] + usage(path, command)
    lines += paragraph(command.get("discussion"))
    shown = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
    if shown:
        lines += [".Bl -tag -width 4n"]
        for argument in shown:
            lines += option_lines(argument)
        lines += [".El"]
    return lines


def subcommands(command):
    return [c for c in command.get("subcommands") or [] if c.get("shouldDisplay", True) and c["commandName"] != "help"]


def tree(path, command, level):
    lines = section(path, command, level)
    for child in subcommands(command):
        lines += tree(path + [child["commandName"]], child, level + 1)
    return lines


def page(path, command, body, see):
    name = "-".join(path)
    lines = [
        ".Dd " + date.today().strftime("%B %-d, %Y"), ".Dt " + name.upper().replace("-", "\\-") + " 1", ".Os PushMTA",
        ".Sh NAME", ".Nm " + escaped(name), ".Nd " + escaped(command.get("abstract", "").rstrip(".")),
        ".Sh SYNOPSIS", *usage(path, command), ".Sh DESCRIPTION", escaped(command.get("abstract", "")), *body,
    ]
    if see:
        lines += [".Sh SEE ALSO"] + [f".Xr {escaped(other)} 1 ," for other in see[:-1]] + [f".Xr {escaped(see[-1])} 1"]
    return "\n".join(lines) + "\n"


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    root = json.loads(subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True).stdout)["command"]
    folder.mkdir(parents=True, exist_ok=True)
    name, children = root["commandName"], subcommands(root)
    listing = [".Sh COMMANDS", ".Bl -tag -width 4n"]
    for child in children:
        listing += [f".It Xr {name}\\-{escaped(child['commandName'])} 1", escaped(child.get("abstract", ""))]
    body = section([name], root, 0) + listing + [".El"]
    (folder / f"{name}.1").write_text(page([name], root, body, [f"{name}-{c['commandName']}" for c in children]))
    for child in children:
        path = [name, child["commandName"]]
        (folder / f"{'-'.join(path)}.1").write_text(page(path, child, tree(path, child, 0), [name]))


if __name__ == "__main__":
    main()
