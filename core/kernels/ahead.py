"""Compiles the kernels ahead of time into a library that runs without numba.

`bake` calls each loop with every set of types that it needs, and numba compiles and optimises a version for each set.
This module links all versions into one object file. Each has an entry function that core/kernels/native.c calls. A C
compiler builds a Python extension module from both.

For x86-64 a second object file has the same code for processors that count the bits of several words in one
instruction. Intel makes such since 2019, AMD since 2022. The extension module uses the second file on them.
"""

import errno
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from muisti.core.kernels import native
from muisti.core.kernels.jit import CPU

# Neither package has type annotations.
llvm: Any = import_module("llvmlite.binding")
types: Any = import_module("numba.core.types")

ITEMS = {
    types.boolean: "?",
    types.int8: "b",
    types.int16: "h",
    types.int32: "i",
    types.uint32: "I",
    types.int64: "q",
    types.uint64: "Q",
    types.float32: "f",
    types.float64: "d",
}
TAKEN = {kind: ITEMS[kind] for kind in (types.boolean, types.int64, types.uint64, types.float64)}
GIVEN = {kind: ITEMS[kind] for kind in (types.int64, types.uint64, types.float64)}

# The CPU and features of a second level, by the CPU that numba compiles for; native.c checks whether it can run.
FASTER = {"x86-64-v3": ("x86-64-v4", "+avx512vpopcntdq,+avx512vnni")}


class Loop(NamedTuple):
    """A loop compiled for one set of types: its signatures as native.c reads them, and its code in LLVM.

    A `quick` one keeps the GIL.
    """

    name: str
    quick: bool
    takes: str
    gives: str
    symbol: str
    code: Any


def make(modules: Sequence[ModuleType], path: Path) -> None:
    """Build the library of the loops of `modules` at a path. All needed types must be compiled already.

    Raises:
        FileNotFoundError: there is no C compiler.
        subprocess.CalledProcessError: the C compiler cannot build an extension module for Python.
    """
    compiler = shlex.split(sysconfig.get_config_var("CC"))[0]
    if shutil.which(compiler) is None:  # known before LLVM works for seconds
        raise FileNotFoundError(errno.ENOENT, "no C compiler", compiler)
    loops = sorted((loop for module in modules for loop in _loops(module)), key=lambda loop: loop.name)
    path.parent.mkdir(exist_ok=True)
    levels = [(CPU or "", ""), *([FASTER[CPU]] if CPU in FASTER else [])]
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        Path(folder, "kernels.h").write_text(_header(loops, len(levels)))
        for level, (cpu, features) in enumerate(levels):
            Path(folder, f"kernels_{level}.o").write_bytes(_object(loops, level, cpu, features))
        _link(Path(folder), path.name)
        for old in path.parent.glob("native-*" + path.suffix):
            old.unlink()
        os.replace(Path(folder, path.name), path)


def _loops(module: ModuleType) -> Iterator[Loop]:
    stage, quick = module.__name__.rpartition(".")[2], getattr(module, "QUICK", False)
    for name, loop in vars(module).items():
        if not hasattr(loop, "overloads") or loop.py_func.__module__ != module.__name__ or name.startswith("_"):
            continue
        for result in loop.overloads.values():
            symbol = result.fndesc.llvm_func_name
            code = llvm.parse_bitcode(result.library._get_module_for_linking().as_bitcode())
            arguments = list(code.get_function(symbol).arguments)[2:]  # the first two are for the result
            with suppress(_Inner):
                takes = _takes(result.signature.args, iter(arguments))
                yield Loop(f"{stage}.{name}", quick, takes, _gives(result.signature.return_type), symbol, code)


class _Inner(Exception):
    """A signature that native.c cannot call: only other loops pass such arguments or use such results."""


def _takes(kinds: Iterable[Any], arguments: Iterator[Any]) -> str:
    signature = ""
    for kind in kinds:
        if isinstance(kind, types.Array):
            *_, items = islice(arguments, 5)
            list(islice(arguments, 2 * kind.ndim))
            signature += ("" if _only_read(items) else "&") + _array(kind)
        elif isinstance(kind, types.BaseTuple):
            signature += f"({_takes(kind, arguments)})"
        else:
            next(arguments)
            signature += _letter(kind, TAKEN)
    return signature


def _gives(kind: Any) -> str:
    if isinstance(kind, types.BaseTuple):
        return f"({''.join(_array(part) if isinstance(part, types.Array) else _letter(part, GIVEN) for part in kind)})"
    if isinstance(kind, types.Array):
        return _array(kind)
    return _letter(kind, {**GIVEN, types.float32: "f", types.none: "n"})


def _only_read(pointer: Any) -> bool:
    return any(b"readonly" in attribute or b"readnone" in attribute for attribute in pointer.attributes)


def _array(kind: Any) -> str:
    if kind.layout != "C" or not kind.mutable or not kind.aligned:
        raise _Inner
    return f"{kind.ndim}{_letter(kind.dtype, ITEMS)}"


def _letter(kind: Any, letters: Mapping[Any, str]) -> str:
    if kind not in letters:
        raise _Inner
    return letters[kind]


def _header(loops: Sequence[Loop], levels: int) -> str:
    entries = [[f"kernel_{level}_{i}" for level in range(levels)] for i in range(len(loops))]
    declared = "".join(f"int32_t {name}(const int64_t *, void *);\n" for names in entries for name in names)
    rows = "".join(
        f'    {{"{loop.name}", "{loop.takes}", "{loop.gives}", {int(loop.quick)}, {{{", ".join(names)}}}}},\n'
        for loop, names in zip(loops, entries, strict=True)
    )
    return f"{declared}static const Loop LOOPS[] = {{\n{rows}    {{NULL, NULL, NULL, 0, {{NULL}}}},\n}};\n"


def _object(loops: Sequence[Loop], level: int, cpu: str, features: str) -> bytes:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    whole = llvm.parse_assembly("")
    whole.triple = llvm.get_process_triple()
    for i, loop in enumerate(loops):
        whole.link_in(llvm.parse_assembly(_entry(f"kernel_{level}_{i}", loop)))
        whole.link_in(loop.code, preserve=True)  # the passes below remove what nothing calls
    for thing in (*whole.functions, *whole.global_variables):
        if not thing.is_declaration and not thing.name.startswith("kernel_"):
            thing.linkage = "internal"
    target = llvm.Target.from_triple(whole.triple)
    machine = target.create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="default")
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3)))
    whole.verify()
    return machine.emit_object(whole)


def _entry(name: str, loop: Loop) -> str:
    """Return LLVM source of a function that reads arguments from 64-bit words in memory and calls the loop."""
    given = [str(argument.type) for argument in loop.code.get_function(loop.symbol).arguments]
    lines: list[str] = []
    for at, kind in enumerate(given[2:]):
        lines += [f"%p{at} = getelementptr i64, ptr %words, i64 {at}", f"%a{at} = load {kind}, ptr %p{at}"]
    values = ", ".join(["ptr %result", "ptr %raised", *(f"{kind} %a{at}" for at, kind in enumerate(given[2:]))])
    return f"""
        declare i32 @"{loop.symbol}"({", ".join(given)})
        define i32 @{name}(ptr %words, ptr %result) {{
            %raised = alloca ptr
            {chr(10).join(lines)}
            %status = call i32 @"{loop.symbol}"({values})
            ret i32 %status
        }}
    """


def _link(folder: Path, name: str) -> None:
    configured = sysconfig.get_config_var
    compiler, linker = shlex.split(configured("CC")), shlex.split(configured("LDSHARED"))
    includes = [f"-I{path}" for path in (folder, sysconfig.get_path("include"), np.get_include())]
    objects = sorted(folder.glob("kernels_*.o"))
    for source in sorted(native.FOLDER.glob("*.c")):
        objects.append(folder / f"{source.stem}.o")
        _run([*compiler, "-O2", "-fPIC", "-fvisibility=hidden", *includes, "-c", str(source), "-o", str(objects[-1])])
    _run([*linker, *map(str, objects), "-lm", "-o", str(folder / name)])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)
