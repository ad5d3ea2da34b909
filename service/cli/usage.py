"""A command that was typed wrongly: one sentence, and the right command where it can be told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from typer._click.core import Command, Context, Parameter
from typer._click.exceptions import MissingParameter, NoArgsIsHelpError, NoSuchOption, UsageError
from typer.core import TyperGroup
from typer.main import get_group

from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.cli.shared import INDEX_VARIABLE, accept_any_letter, report_errors

_TYPED = "counterpoint.typed"
_DASHES = ("–", "—", "−")
"""What word processors make of the hyphens before an option."""
_SENTENCES = ("CLAIM", "QUESTION", "HYPOTHESIS", "QUERY")
"""The arguments that are a sentence, by what the help calls them."""
_TEXT_NAMES = (".txt", ".md", ".markdown", ".docx", ".doc", ".pdf", ".csv", ".tsv", ".html", ".tex", ".rtf", ".odt")


PLUGINS = "counterpoint.commands"
"""The entry-point group of groups of commands that are not the product's: each an instance of `typer.Typer`, by its name."""


class CommandLine(TyperGroup):
    """All commands; a fault in what was typed is reported as one sentence, like every other fault."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Name the product's commands, then those of plug-ins."""
        self._add_plugins()
        return super().list_commands(ctx)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command by its name; plug-ins are looked for only where it is none of the product's."""
        if cmd_name not in self.commands:
            self._add_plugins()
        return super().get_command(ctx, cmd_name)

    def _add_plugins(self) -> None:
        for plugin in entry_points(group=PLUGINS):
            if plugin.name not in self.commands:
                self.commands[plugin.name] = get_group(plugin.load())

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Read the options before the command."""
        accept_any_letter()
        ctx.meta[_TYPED] = list(args)
        with report_errors(), _explain_usage(args):
            return super().parse_args(ctx, complete_dense(args))

    def invoke(self, ctx: Context) -> Any:
        """Run the command."""
        with report_errors(), _explain_usage(ctx.meta[_TYPED]):
            return super().invoke(ctx)


def complete_dense(args: list[str]) -> list[str]:
    """Give `--dense` of `counterpoint index` its value: it may stand alone, and what follows be a source."""
    if args[:1] != ["index"] or "--dense" not in args:
        return args
    at = args.index("--dense")
    view = args[at + 1 : at + 2] if args[at + 1 : at + 2] in (["full"], ["short"]) else []
    return [*args[:at], "=".join(["--dense", *(view or ["auto"])]), *args[at + 1 + len(view) :]]


def check_sentence(text: str, command: str, index: Path) -> None:
    """Raise `BadInput` for the name of a file where a command takes a sentence."""
    name = text.strip()
    suffix = Path(name).suffix.lower()
    if (suffix in _TEXT_NAMES and not re.search(r"\s", name)) or (suffix and _is_there(name)):
        offer = _write(["check", name], ["--index", str(index)])
        raise BadInput(f"{name} is a file, and `counterpoint {command}` takes one sentence; check a file with `{offer}`.")


def check_file_name(name: str, index: Path) -> None:
    """Raise `BadInput` for a sentence where a command takes the name of a file."""
    if re.search(r"\s", name.strip()) and re.search(r"^$|\s", Path(name.strip()).suffix) and not _is_there(name):
        offer = _write(["ground", name], ["--index", str(index)])
        raise BadInput(f"There is no file “{name}”; check one claim with `{offer}`.")


@contextmanager
def _explain_usage(arguments: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except UsageError as error:
        raise BadInput(_explain(error, arguments)) from None


def _explain(error: UsageError, arguments: Sequence[str]) -> str:
    """What is wrong, in one sentence, and what to type instead."""
    context = error.ctx
    message = error.format_message().replace("a valid int range", "a whole number").rstrip(".")
    message = re.sub(r"is not in the range (\S+)<=x<=(\S+)", r"is not between \1 and \2", message)
    if context is None:
        return f"{message}."
    typed = _after_command(context, arguments)
    for word in typed:
        if word.startswith(_DASHES) and not re.search(r"\s", word):
            return f"{word} begins with a dash; an option begins with two hyphens: --{word.lstrip('–—−-')}."
    if offer := _offer_quotes(context, typed):
        return offer
    if isinstance(error, NoSuchOption) and not error.possibilities:
        names = {name for option in context.command.get_params(context) for name in option.opts}
        for word in typed:
            if word.startswith(error.option_name) and f"-{word.partition('=')[0]}" in names:
                return f"No such option: {word}; did you mean -{word}?"
    if isinstance(error, MissingParameter) and error.param:
        missing = _name_parameter(context, error.param)
        what = f"{missing[0]} is missing"
        if error.param.envvar == INDEX_VARIABLE:
            what = f"No index is named: give its folder with --index, or in the variable {INDEX_VARIABLE}"
        return f"{what}; the command looks like `{_write(arguments, [])} {' '.join(missing)}`."
    return message if message.endswith("?") else f"{message}; `{context.command_path} --help` shows what to give."


def _after_command(context: Context, arguments: Sequence[str]) -> list[str]:
    """What was typed behind the command's name."""
    rest = list(arguments)
    for name in context.command_path.split()[1:]:
        rest = rest[rest.index(name) + 1 :] if name in rest else rest
    return rest


def _offer_quotes(context: Context, typed: Sequence[str]) -> str:
    """Offer the command with its sentence in quotes, if the words of one were typed as so many arguments; else ""."""
    command = context.command
    takes = [one for one in command.get_params(context) if one.param_type_name == "argument"]
    if len(takes) != 1 or takes[0].nargs != 1:
        return ""
    try:
        given, more, _ = command.make_parser(context).parse_args(args=list(typed))
    except UsageError:
        return ""
    words = [one for one in (given.get(takes[0].name or ""), *more) if one]
    kind = getattr(takes[0], "metavar", None)
    options = [text for one in command.get_params(context) if one is not takes[0] for text in _write_option(one, given)]
    for one in command.get_params(context):
        if one.required and one.envvar == INDEX_VARIABLE and not given.get(one.name or "") and not one.value_from_envvar(context):
            options += _name_parameter(context, one)
    path = context.command_path.split()[1:]
    files = [word for word in words if Path(word).suffix and _is_there(word)]
    if path == ["evidence"] and len(files) == 1 and "--paper" not in options:
        words.remove(files[0])
        options = ["--paper", files[0], *options]
    elif len(words) < 2 or re.search(r"\s", words[0]):
        return ""
    elif kind not in _SENTENCES and not _is_there(" ".join(words)):
        if path != ["check"]:
            return ""
        index = options.index("--index") if "--index" in options else len(options)
        offer = _write(["ground", " ".join(words)], options[index : index + 2])
        return f"`counterpoint check` takes a file; check one claim with `{offer}`."
    return f"`{context.command_path}` takes one argument; put it in quotes: `{_write([*path, ' '.join(words)], options)}`."


def _name_parameter(context: Context, parameter: Parameter) -> list[str]:
    """How the help calls a parameter, such as --index INDEX."""
    metavar = parameter.make_metavar(context)
    return [metavar] if parameter.param_type_name == "argument" else [parameter.opts[0], metavar]


def _write_option(option: Parameter, given: dict[str, Any]) -> list[str]:
    """An option as it was typed; nothing if it was not."""
    value = given.get(option.name or "")
    if value is None:
        return []
    if getattr(option, "is_flag", False):
        return [option.opts[0]]
    return [text for one in (value if isinstance(value, list) else [value]) for text in (option.opts[0], str(one))]


def _write(command: Sequence[str], options: Sequence[str]) -> str:
    return shlex.join(["counterpoint", *command, *options])


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False
