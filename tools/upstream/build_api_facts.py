#!/usr/bin/env python3
"""Build the CUDA-API facts tables (symbols.csv, headers.csv, libraries.csv, report.json).

Two steps:

  scan   parse one CUDA release's headers (a folder of unpacked wheels) into a JSON cache.
         Needs the 'libclang' package and a C++ compiler (only for its system include folders).
  build  merge the caches with the mapping sources into the CSV files. Standard library only.

Nothing here knows where its inputs are: every input is an argument.  `build_api_facts.py STEP -h`.
"""

from __future__ import annotations

import argparse
import ast
import collections
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

# ----------------------------------------------------------------------------------------------
# 1. Which CUDA library owns a header (path relative to an include root)
# ----------------------------------------------------------------------------------------------
HEADER_OWNER = [
    (r"cuda(_[a-zA-Z]+)?Typedefs\.h|.*Typedefs\.h|generated_.*|.*_meta\.h|.*cbid.*\.h", None),
    (r"(cuda|cudaGL|cudaEGL|cudaVDPAU|cudaProfiler|cudaD3D\d+)\.h", "driver"),
    (r"cuComplex\.h", "complex"),
    (
        r"(cuda_runtime\w*|driver_types|driver_functions|vector_types|vector_functions|texture_types|surface_types|"
        r"library_types|channel_descriptor|cuda_profiler_api|cuda_(gl|egl|vdpau|d3d\d+)_interop|device_types|"
        r"cuda_device_runtime_api|cuda_occupancy|cudart_platform|builtin_types|cuda_texture_types|"
        r"cuda_surface_types)\.(h|hpp)",
        "runtime",
    ),
    (r"cooperative_groups(\.h|/.*)", "cooperative_groups"),
    (r"(crt/)?mma\.(h|hpp)", "wmma"),
    (r"(crt/)?cuda_tile\.h", "cuda_tile"),
    (
        r"(crt/(device_functions|math_functions|device_double_functions|common_functions|device_fp128_functions)|"
        r"device_functions|device_double_functions|math_functions|"
        r"(device|sm_\d+)_atomic_functions|sm_\d+_intrinsics|cuda_fp\d+|cuda_bf16|cuda_tf32|"
        r"texture_fetch_functions|texture_indirect_functions|surface_functions|surface_indirect_functions|math_constants|"
        r"cuda_awbarrier\w*|cuda_pipeline\w*|device_launch_parameters|crt/sm_\d+_rt)\.(h|hpp)",
        "device",
    ),
    (r"nvfunctional", "device"),
    (r"cublasLt\.h", "cublaslt"),
    (r"cublasXt\.h", "cublasxt"),
    (r"nvblas\.h", "nvblas"),
    (r"cublasmp\.h", "cublasmp"),
    (r"cublas\w*\.h", "cublas"),
    (r"cufftMp\.h", "cufftmp"),
    (r"cufftw\.h", "cufftw"),
    (r"(cufft\w*|cudalibxt)\.h", "cufft"),
    (r"curand\w*\.h", "curand"),
    (r"cusolverMp\.h", "cusolvermp"),
    (r"cusolver\w*\.h", "cusolver"),
    (r"cusparseLt\w*\.h", "cusparselt"),
    (r"cusparse\w*\.h", "cusparse"),
    (r"cudnn\w*\.h", "cudnn"),
    (r"nccl\w*\.h|nccl_device/.*", "nccl"),
    (r"nvrtc\.h", "nvrtc"),
    (r"nvJitLink\.h", "nvjitlink"),
    (r"nvFatbin\.h", "nvfatbin"),
    (r"nvPTXCompiler\.h", "nvptxcompiler"),
    (r"nvvm\.h", "nvvm"),
    (r"nvml\.h", "nvml"),
    (r"(nvtx3/)?nvtx3\.hpp|nvtx3/nvtx3\.hpp|(nvtx3/)?nvToolsExt\w*\.h|nvtx3/nvtx\w*\.h", "nvtx"),
    (r"cupti\w*\.h|nvperf\w*\.h|Openacc/.*|Openmp/.*", "cupti"),
    (r"sanitizer\w*\.h", "sanitizer"),
    (r"cufile\.h", "cufile"),
    (r"nvjpeg2k\w*\.h", "nvjpeg2k"),
    (r"nvjpeg\.h", "nvjpeg"),
    (r"nvtiff\w*\.h", "nvtiff"),
    (r"nvimgcodec\w*\.h", "nvimgcodec"),
    (r"npp\w*\.h", "npp"),
    (r"cutensornet(\.h|/.*)", "cutensornet"),
    (r"cutensor(Mg)?\.h|cutensor/.*", "cutensor"),
    (r"custatevec\w*\.h", "custatevec"),
    (r"nvshmem\w*\.h|device(_host)?/.*|host/.*|bootstrap_device_host/.*|device_host_transport/.*", "nvshmem"),
    (r"cudss\w*\.h", "cudss"),
    (r"(nvcomp/.*|nvcomp\w*)\.(h|hpp)", "nvcomp"),
    (r"cub/.*", "cub"),
    (r"thrust/.*", "thrust"),
    (r"cuda/.*", "libcudacxx"),
]
HEADER_OWNER = [(re.compile(p + r"$"), lib) for p, lib in HEADER_OWNER]

CXX_LIBS = {"cub", "thrust", "libcudacxx", "cooperative_groups", "wmma", "cuda_tile"}
DEVICE_LIBS = {"device", "cooperative_groups", "wmma", "cuda_tile"}

# translation units: name, headers (globs relative to an include root), extra macros, first include
TUS = [
    (
        "core",
        [
            "cuda.h",
            "cudaGL.h",
            "cudaEGL.h",
            "cudaVDPAU.h",
            "cudaProfiler.h",
            "cuda_runtime.h",
            "cuda_profiler_api.h",
            "cuda_gl_interop.h",
            "cuda_egl_interop.h",
            "cuda_vdpau_interop.h",
            "cuComplex.h",
            "cuda_occupancy.h",
            "library_types.h",
            "math_constants.h",
        ],
        0,
    ),
    (
        "device",
        [
            "cuda_runtime.h",
            "cuda_fp16.h",
            "cuda_bf16.h",
            "cuda_fp8.h",
            "cuda_fp6.h",
            "cuda_fp4.h",
            "cuda_tf32.h",
            "mma.h",
            "cuda_pipeline.h",
            "cuda_awbarrier.h",
            "math_constants.h",
            "device_launch_parameters.h",
            "nvfunctional",
            "texture_fetch_functions.h",
            "texture_indirect_functions.h",
            "surface_functions.h",
            "surface_indirect_functions.h",
            "cuda_surface_types.h",
            "cuda_texture_types.h",
            "sm_*.h",
            "device_atomic_functions.h",
            "cooperative_groups.h",
            "cooperative_groups/*.h",
            "curand_kernel.h",
        ],
        3,
    ),
    ("blas", ["cublas_v2.h", "cublasLt.h", "cublasXt.h"], 0),
    ("blas1", ["cublas.h"], 0),
    ("nvblas", ["nvblas.h"], 0),
    ("fft", ["cufft.h", "cufftXt.h", "cudalibxt.h"], 0),
    ("fftw", ["cufftw.h"], 0),
    ("rand", ["curand.h", "curand_mtgp32_host.h"], 0),
    ("tile", ["cuda_tile.h"], 1),
    ("solver", ["cusolver*.h"], 0),
    ("sparse", ["cusparse.h"], 0),
    ("sparselt", ["cusparseLt.h"], 0),
    ("dnn", ["cudnn.h", "cudnn_*.h"], 0),
    ("nccl", ["nccl.h", "nccl_net.h"], 0),
    ("nccl_dev", ["nccl_device.h"], 1),
    ("nvrtc", ["nvrtc.h"], 0),
    ("jit", ["nvJitLink.h", "nvFatbin.h", "nvPTXCompiler.h", "nvvm.h"], 0),
    ("nvml", ["nvml.h"], 0),
    ("nvtx", ["nvtx3/nvToolsExt*.h", "nvToolsExt*.h"], 0),
    ("nvtxpp", ["nvtx3/nvtx3.hpp"], 0),
    ("cupti", ["cupti.h", "cupti_*.h"], 0),
    ("sanitizer", ["sanitizer.h"], 0),
    ("cufile", ["cufile.h"], 0),
    ("nvjpeg", ["nvjpeg.h"], 0),
    ("npp", ["npp.h"], 0),
    ("nvjpeg2k", ["nvjpeg2k.h"], 0),
    ("nvtiff", ["nvtiff.h"], 0),
    ("nvimgcodec", ["nvimgcodec.h"], 0),
    ("cutensor", ["cutensor.h", "cutensorMg.h"], 0),
    ("cutensornet", ["cutensornet.h"], 0),
    ("custatevec", ["custatevec*.h"], 0),
    ("nvshmem", ["nvshmem.h", "nvshmemx.h"], 1),
    ("cudss", ["cudss.h"], 0),
    ("cublasmp", ["cublasmp.h"], 0),
    ("cusolvermp", ["cusolverMp.h"], 0),
    ("cufftmp", ["cufftMp.h"], 0),
    ("nvcomp", ["nvcomp.h", "nvcomp/*.h", "nvcomp/*.hpp"], 0),
    ("cub", ["cub/cub.cuh"], 1),
    ("thrust", ["thrust/*.h", "thrust/iterator/*.h", "thrust/random/*.h", "thrust/mr/*.h"], 1),
    (
        "libcudacxx",
        [
            "cuda/atomic",
            "cuda/barrier",
            "cuda/pipeline",
            "cuda/latch",
            "cuda/semaphore",
            "cuda/annotated_ptr",
            "cuda/ptx",
            "cuda/functional",
            "cuda/memory_resource",
            "cuda/stream_ref",
            "cuda/version",
            "cuda/discard_memory",
            "cuda/access_property",
            "cuda/cmath",
            "cuda/bit",
            "cuda/numeric",
            "cuda/warp",
            "cuda/mdspan",
            "cuda/iterator",
            "cuda/memory",
            "cuda/devices",
            "cuda/stream",
            "cuda/launch",
            "cuda/algorithm",
            "cuda/buffer",
            "cuda/hierarchy",
            "cuda/utility",
            "cuda/tma",
            "cuda/random",
            "cuda/argument",
            "cuda/memory_pool",
            "cuda/type_traits",
        ],
        1,
    ),
]
INLINE_NS = re.compile(r"^(_V_\d|CUB_\d|THRUST_\d|_\d|__\d|_ABI|m?v\d+$|__v\d)|_SM_")
PRIVATE_NS = re.compile(
    r"^(detail|details|internal|impl|__.*|_.*|system|aux|core_detail|cuda_cub|std|experimental)$"
)


def owner_of(rel):
    for rx, lib in HEADER_OWNER:
        if rx.match(rel):
            return lib
    return None


# ----------------------------------------------------------------------------------------------
# 2. scan: CUDA headers -> JSON
# ----------------------------------------------------------------------------------------------
def include_roots(folder):
    roots = []
    for d, dirs, files in os.walk(folder):
        base = os.path.basename(d)
        if base == "include" or (base == "cccl" and d.endswith("/include/cccl")):
            if not any(d.startswith(r + "/") and base == "include" for r in roots):  # no nested libc++ copies
                roots.append(d)
    return sorted(roots, key=len, reverse=True)


def system_includes():
    err = subprocess.run(
        ["g++", "-E", "-x", "c++", "-", "-v"], input="", capture_output=True, text=True
    ).stderr
    seg = err.split("search starts here:")[-1].split("End of search")[0]
    return [line.strip() for line in seg.splitlines() if line.strip().startswith("/")]


STUBS = {
    "GL/gl.h": "typedef unsigned int GLuint; typedef unsigned int GLenum; typedef int GLint;\n",
    "EGL/egl.h": "typedef int EGLint;\n",
    "EGL/eglext.h": "typedef void* EGLImageKHR; typedef void* EGLStreamKHR; typedef void* EGLSyncKHR;\n",
    "vdpau/vdpau.h": "typedef unsigned int VdpDevice; typedef void* VdpGetProcAddress;"
    " typedef unsigned int VdpVideoSurface; typedef unsigned int VdpOutputSurface;\n",
}


def scan(args):
    import tempfile

    import clang.cindex as ci

    K = ci.CursorKind
    roots = include_roots(args.root)
    helpers = [r for d in (args.also or []) for r in include_roots(d)]
    if not roots:
        sys.exit("no include folder under " + args.root)
    tmp = tempfile.mkdtemp()
    for rel, text in STUBS.items():
        p = Path(tmp, "stub", rel)
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(text)
    sysinc = system_includes()
    major, minor = args.label.split(".")[:2]

    def rel_of(fname):
        for r in roots:
            if fname.startswith(r + "/"):
                return fname[len(r) + 1 :]
        return None

    rel_cache = {}
    out = collections.defaultdict(dict)  # lib -> name -> record
    tags = collections.defaultdict(set)  # record/enum tag -> typedef names
    file_lines = {}
    index = ci.Index.create()
    diags = {}

    def put(lib, name, kind, rel, **kw):
        if not name or re.search(r"[ <(]|\boperator\b", name) or "operator" in name.split("::")[-1][:8]:
            return
        rec = out[lib].get(name)
        if rec is None:
            rec = out[lib][name] = {"kind": kind, "headers": [], "np": {}}
        order = ["macro", "variable", "type", "class", "enum_value", "function", "device_function"]
        if order.index(kind) > order.index(rec["kind"]):
            rec["kind"] = kind
        if rel not in rec["headers"]:
            rec["headers"].append(rel)
        for k, v in kw.items():
            if k == "np":
                counts = rec["np"].setdefault(rel, [])
                if v not in counts:
                    counts.append(v)
            elif v:
                rec[k] = v

    def is_deprecated(c):
        try:
            return c.availability == ci.AvailabilityKind.DEPRECATED
        except Exception:
            return False

    def visit(cur, path, clink, lib_hint=None):
        for c in cur.get_children():
            k = c.kind
            loc = c.location.file
            if loc is None:
                continue
            fn = loc.name
            if fn not in rel_cache:
                rel_cache[fn] = rel_of(os.path.normpath(fn))
            rel = rel_cache[fn]
            if rel is None:
                continue
            lib = owner_of(rel)
            if k in (K.LINKAGE_SPEC, K.UNEXPOSED_DECL):
                visit(c, path, True)
                continue
            if lib is None:
                continue
            if k == K.NAMESPACE:
                n = c.spelling
                if INLINE_NS.search(n):
                    visit(c, path, False)
                elif not n or (PRIVATE_NS.match(n) and not (lib == "wmma" and n == "experimental")):
                    continue
                else:
                    visit(c, path + [n], False)
                continue
            name = c.spelling
            if path:
                name = "::".join(path + [name])
            if k == K.FUNCTION_DECL:
                kind = (
                    "device_function"
                    if (lib in DEVICE_LIBS or rel.startswith(("curand_", "nccl_device")))
                    else "function"
                )
                put(
                    lib,
                    name,
                    kind,
                    rel,
                    np=len(list(c.get_arguments())),
                    clink=(clink or None),
                    dep=is_deprecated(c),
                )
            elif k == K.FUNCTION_TEMPLATE:
                kind = (
                    "device_function"
                    if (lib in DEVICE_LIBS or rel.startswith(("curand_", "nccl_device")))
                    else "function"
                )
                put(lib, name, kind, rel, tmpl=True)
            elif k in (
                K.STRUCT_DECL,
                K.CLASS_DECL,
                K.UNION_DECL,
                K.CLASS_TEMPLATE,
                K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
            ):
                put(
                    lib,
                    name,
                    "class" if lib in CXX_LIBS or path else "type",
                    rel,
                    opaque=(not c.is_definition()) or None,
                    defd=c.is_definition() or None,
                )
            elif k in (K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL):
                put(lib, name, "type", rel, dep=is_deprecated(c), td=True)
                if k == K.TYPEDEF_DECL:
                    t = c.underlying_typedef_type.spelling
                    m = re.match(r"^(?:const )?(?:struct |enum |union )?(\w+)(?: const)?(?: ?\*)?$", t)
                    if m and m.group(1) != name:
                        tags[m.group(1)].add(name)
            elif k == K.ENUM_DECL:
                if name and "(" not in name:
                    put(lib, name, "type", rel)
                if path and lib in CXX_LIBS and c.is_scoped_enum():
                    continue
                for e in c.get_children():
                    if e.kind == K.ENUM_CONSTANT_DECL:
                        n = "::".join(path + [e.spelling])
                        put(lib, n, "enum_value", rel, dep=is_deprecated(e))
            elif k == K.VAR_DECL and (lib not in CXX_LIBS or path):
                put(lib, name, "variable", rel)
            elif k == K.USING_DECLARATION and lib in CXX_LIBS:
                put(lib, name, "class", rel)
            elif k == K.MACRO_DEFINITION:
                if name.startswith("__") and lib != "device":
                    continue
                ln = c.extent.start.line
                if fn not in file_lines:
                    file_lines[fn] = Path(fn).read_text(errors="replace").splitlines()
                text = file_lines[fn][ln - 1] if ln <= len(file_lines[fn]) else ""
                m = re.match(r"\s*#\s*define\s+(\w+)(\([^)]*\))?\s*(.*?)\s*(?:/[*/].*)?$", text)
                body = m.group(3) if m else ""
                put(lib, name, "macro", rel, body=body[:120] or None, fnlike=bool(m and m.group(2)) or None)

    def parse(name, headers, macros, first):
        incs = []
        for h in headers:
            if "*" in h:
                found = set()
                for r in roots:
                    for p in Path(r).glob(h):
                        found.add(str(p.relative_to(r)))
                incs += sorted(
                    f for f in found if not re.search(r"_v\d+\.h$|Typedefs|_DEPRECATED|Windows", f)
                )
            elif any(Path(r, h).exists() for r in roots):
                incs.append(h)
        if not incs:
            return
        text = ("#include <cuda_runtime.h>\n" if first else "") + "".join("#include <%s>\n" % h for h in incs)
        cmd = (
            ["-x", "c++", "-std=c++20" if name == "tile" else "-std=c++17", "-ferror-limit=0", "-w"]
            + ["-I" + r for r in roots + helpers]
            + ["-I" + str(Path(tmp, "stub"))]
            + [x for s in sysinc for x in ("-isystem", s)]
            + macros
        )
        src = str(Path(tmp, name + ".cpp"))
        try:
            tu = index.parse(
                src,
                args=cmd,
                unsaved_files=[(src, text)],
                options=ci.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
                | ci.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
            )
        except ci.TranslationUnitLoadError as e:
            diags[name] = str(e)
            return
        diags[name] = [
            d.spelling + " @" + (rel_of(d.location.file.name) or "?") if d.location.file else d.spelling
            for d in tu.diagnostics
            if d.severity >= 3
        ][:5]
        visit(tu.cursor, [], False)

    cc = [
        "-D__CUDACC__",
        "-D__NVCC__",
        "-D__CUDACC_VER_MAJOR__=" + major,
        "-D__CUDACC_VER_MINOR__=" + minor,
        "-D__CUDACC_VER_BUILD__=1",
        "-D__NV_NO_HOST_COMPILER_CHECK=1",
        "-DCCCL_IGNORE_DEPRECATED_API=1",
        "-DTHRUST_IGNORE_DEPRECATED_API=1",
        "-DCUB_IGNORE_DEPRECATED_API=1",
    ]
    arch = {"11": "900", "12": "1000", "13": "1000"}.get(major, "1000")
    for name, headers, mode in TUS:
        if args.only and name not in args.only.split(","):
            continue
        if mode == 0:
            parse(name, headers, [], name not in ("core", "nvvm"))
        elif mode == 1:
            parse(name, headers, cc, True)
        else:
            parse(name, headers, cc, False)
            parse(
                name + "_arch",
                headers,
                cc + ["-D__CUDA_ARCH__=" + arch, "-D__CUDA_ARCH_FEAT_SM%s_ALL=1" % arch[:-1]],
                False,
            )
            parse(
                name + "_rtc",
                [h for h in headers if "curand" not in h and "cooperative" not in h],
                cc + ["-D__CUDA_ARCH__=" + arch, "-D__CUDACC_RTC__"],
                False,
            )
    # names that stand in a header without being declared to a normal program
    mentioned = {}
    for lib in ("driver", "runtime", "cublas", "cusparse", "cusolver", "cufft"):
        words = set()
        for r in roots:
            for p in Path(r).rglob("*.h"):
                if owner_of(str(p.relative_to(r))) == lib:
                    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", p.read_text(errors="replace"), flags=re.S)
                    words.update(re.findall(r"[A-Za-z]\w{4,}", text))
        mentioned[lib] = sorted(w for w in words - set(out.get(lib, ())) if ALLOW[lib].match(w))
    # headers present
    hdrs = {}
    for r in roots:
        for p in Path(r).rglob("*"):
            if p.is_file() and p.name != "__init__.py":
                rel = str(p.relative_to(r))
                if rel.startswith("cccl/"):
                    continue
                lib = owner_of(rel)
                if lib:
                    hdrs[rel] = lib
    result = {
        "label": args.label,
        "symbols": out,
        "tags": {k: sorted(v) for k, v in tags.items()},
        "headers": hdrs,
        "mentioned": mentioned,
        "diagnostics": diags,
    }
    Path(args.out).write_text(json.dumps(result, default=list, sort_keys=True))
    print(args.label, {k: len(v) for k, v in sorted(out.items())})
    for k, v in diags.items():
        if v:
            print("  diag", k, v[:2] if isinstance(v, list) else v)


# ----------------------------------------------------------------------------------------------
# 3. readers of the mapping sources
# ----------------------------------------------------------------------------------------------
API2LIB = {
    "API_DRIVER": "driver",
    "API_RUNTIME": "runtime",
    "API_COMPLEX": "complex",
    "API_BLAS": "cublas",
    "API_RAND": "curand",
    "API_DNN": "cudnn",
    "API_FFT": "cufft",
    "API_SPARSE": "cusparse",
    "API_SOLVER": "cusolver",
    "API_CUB": "cub",
    "API_RTC": "nvrtc",
    "API_TENSOR": "cutensor",
    "API_FILE": "cufile",
    "API_SPARSELT": "cusparselt",
}


def lib_by_name(name, lib):
    if lib == "cublas":
        if re.match(r"cublasLt|CUBLASLT_", name):
            return "cublaslt"
        if re.match(r"cublasXt|CUBLASXT_", name):
            return "cublasxt"
    return lib


def strip_cpp_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return "\n".join(re.sub(r"^\s*//.*$", "", ln) for ln in text.splitlines())


def fmt_ver(number, cuda):
    """11020 -> 11.2 (CUDA), 6030 -> 6.3.0 (HIP), 9000 style cuDNN -> x.y.z"""
    if not number:
        return ""
    if cuda:
        return "%d.%d" % (number // 1000, number % 1000 // 10)
    return "%d.%d.%d" % (number // 1000, number % 1000 // 10, number % 10)


def read_hipify(folder):
    src = Path(folder, "src")
    enums = {}
    stat = strip_cpp_comments((src / "Statistics.h").read_text())
    for m in re.finditer(
        r"\b((?:CUDA|CUDNN|HIP|CUTENSOR|CUFILE|CUSPARSELT)_[A-Z0-9]+)\s*=\s*([A-Z0-9_]+)", stat
    ):
        enums[m.group(1)] = m.group(2)

    def ver(token):
        token = token.strip()
        seen = 0
        while token in enums and not enums[token].isdigit() and seen < 5:
            token, seen = enums[token], seen + 1
        num = int(enums.get(token, "0")) if enums.get(token, "0").isdigit() else 0
        if token.startswith("CUDNN"):
            return "%d.%d.%d" % (num // 100, num // 10 % 10, num % 10) if num else ""
        return fmt_ver(num, token.startswith("CUDA"))

    entries, headers = [], []
    cver, hver = {}, {}
    cchg, hchg = {}, {}
    for path in sorted(src.glob("CUDA2HIP*.cpp")):
        text = strip_cpp_comments(path.read_text())
        for m in re.finditer(
            r"const\s+std::map\s*<[^>]*,\s*(\w+)\s*>\s*(\w+)\s*\{(.*?)\n\};", text, flags=re.S
        ):
            typ, mapname, body = m.groups()
            if typ == "hipCounter":
                for e in re.finditer(
                    r'\{\s*"([^"]+)"\s*,\s*\{\s*"([^"]*)"\s*,\s*"([^"]*)"\s*,\s*(\w+)\s*,\s*(\w+)\s*,\s*([^,}]+?)\s*(?:,\s*([^}]+?)\s*)?\}\s*\}',
                    body,
                ):
                    name, hip, roc, conv, api, sec, flags = e.groups()
                    flags = set(re.findall(r"\w+", flags or ""))
                    if "CAFFE2" in mapname:
                        continue
                    if conv.startswith("CONV_INCLUDE"):
                        headers.append((name, hip, roc, flags, api))
                        continue
                    lib = API2LIB.get(api, "runtime")
                    if conv in ("CONV_DEVICE_FUNC", "CONV_DEVICE_TYPE") or "_DEVICE_" in mapname:
                        lib = "device"
                    if conv in ("CONV_DEVICE_FUNC", "CONV_LIB_DEVICE_FUNC"):
                        kind = "device_function"
                    elif conv in ("CONV_TYPE", "CONV_DEVICE_TYPE"):
                        kind = "type"
                    elif conv in ("CONV_NUMERIC_LITERAL", "CONV_LITERAL"):
                        kind = "enum_value"
                    elif conv in ("CONV_DEFINE", "CONV_EXTERN_SHARED"):
                        kind = "macro"
                    else:
                        kind = "function"
                    if mapname == "CUDA_CUB_NAMESPACE_MAP":
                        kind = "namespace"
                    entries.append(
                        {
                            "name": name,
                            "hip": hip,
                            "roc": roc,
                            "kind": kind,
                            "lib": lib_by_name(name, lib),
                            "flags": flags,
                            "file": path.stem,
                        }
                    )
            elif typ in ("cudaAPIversions", "hipAPIversions"):
                for e in re.finditer(r'\{\s*"([^"]+)"\s*,\s*\{([^}]*)\}\s*\}', body):
                    vals = [v.strip() for v in e.group(2).split(",")]
                    (cver if typ.startswith("cuda") else hver).setdefault(
                        e.group(1), [ver(v) for v in vals] + [""] * (4 - len(vals))
                    )
            elif typ in ("cudaAPIChangedVersions", "hipAPIChangedVersions"):
                for e in re.finditer(r'\{\s*"([^"]+)"\s*,\s*\{([^}]*)\}\s*\}', body):
                    (cchg if typ.startswith("cuda") else hchg)[e.group(1)] = [
                        ver(v) for v in e.group(2).split(",")
                    ]
    for e in entries:
        c = cver.get(e["name"], ["", "", "", ""])
        e["cuda_added"], e["cuda_deprecated"], e["cuda_removed"] = c[:3]
        h = hver.get(e["hip"], ["", "", "", ""])
        e["hip_added"], e["hip_deprecated"], e["hip_removed"] = h[:3]
        e["hip_experimental"] = "yes" if h[3] else ""
        r = hver.get(e["roc"], ["", "", "", ""])
        e["roc_added"] = r[0]
        e["hip_ok"] = bool(e["hip"]) and not (e["flags"] & {"UNSUPPORTED", "HIP_UNSUPPORTED"})
        e["roc_ok"] = bool(e["roc"]) and not (e["flags"] & {"UNSUPPORTED", "ROC_UNSUPPORTED"})
        e["cuda_changed"], e["hip_changed"] = cchg.get(e["name"], []), hchg.get(e["hip"], [])
    return entries, headers


def read_hipify_md(folder):
    """HIPIFY's published tables: used only to check read_hipify()."""
    tables = {}
    for path in sorted(Path(folder, "docs").rglob("tables/*.md")):
        head = None
        for line in path.read_text().splitlines():
            if not line.startswith("|"):
                continue
            cells = [c.strip().strip("`") for c in line.strip().strip("|").split("|")]
            if cells[0] == "**CUDA**":
                head = [c.strip("*") for c in cells]
                continue
            if cells[0].startswith(":--") or head is None:
                continue
            tables.setdefault(path.stem, {})[cells[0]] = dict(zip(range(len(cells)), cells)) | {"head": head}
    return tables


def read_torch(path):
    """-> (symbol pairs, header pairs) from torch/utils/hipify/cuda_to_hip_mappings.py, read without running it"""
    tree = ast.parse(Path(path).read_text())
    pairs, headers = {}, {}
    keep = {
        "CUDA_TYPE_NAME_MAP",
        "CUDA_IDENTIFIER_MAP",
        "CUDA_SPECIAL_MAP",
        "PYTORCH_SPECIFIC_MAPPINGS",
        "CUDA_INCLUDE_MAP",
    }
    for node in tree.body:
        if (
            not isinstance(node, ast.Assign)
            or not isinstance(node.targets[0], ast.Name)
            or node.targets[0].id not in keep
        ):
            continue
        which = node.targets[0].id
        for tup in ast.walk(node.value):
            if (
                not isinstance(tup, ast.Tuple)
                or len(tup.elts) != 2
                or not isinstance(tup.elts[0], ast.Constant)
            ):
                continue
            key, val = tup.elts[0].value, tup.elts[1]
            if isinstance(val, ast.Tuple) and val.elts and isinstance(val.elts[0], ast.Constant):
                val = val.elts[0]
            if isinstance(val, ast.Constant):
                value = val.value
            elif isinstance(val, ast.Name) and val.id == "_RCCL_HEADER":
                value = "rccl/rccl.h"
            else:
                continue
            key, value = key.strip(), value.strip()
            if which == "CUDA_INCLUDE_MAP" or re.search(r"\.(h|hpp|cuh)>?$", key):
                headers[key.strip("<>")] = value.strip("<>")
            else:
                pairs[key] = value
    return pairs, headers


def read_pxd(path):
    """Cython declarations -> {name: (kind, nparams or None)}"""
    out = {}
    enum_indent = None
    for raw in Path(path).read_text(errors="replace").splitlines():
        line = raw.split("#")[0].rstrip()
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        body = line.strip()
        if enum_indent is not None:
            if indent > enum_indent:
                m = re.match(r"^(\w+)", body)
                if m:
                    out.setdefault(m.group(1), ("enum_value", None))
                continue
            enum_indent = None
        m = re.match(r"^(?:cdef|ctypedef)\s+enum\b\s*(\w*)", body)
        if m:
            if m.group(1):
                out[m.group(1)] = ("type", None)
            if body.endswith(":"):
                enum_indent = indent
            continue
        m = re.match(r"^(?:cdef|ctypedef)\s+(?:struct|union)\s+(\w+)", body)
        if m:
            out[m.group(1)] = ("type", None)
            continue
        if body.startswith("ctypedef"):
            m = re.search(r"\(\s*\*\s*(\w+)\s*\)", body) or re.search(r"(\w+)\s*(?:\[.*\])?$", body)
            if m:
                out[m.group(1)] = ("type", None)
            continue
        if body.startswith("cdef") and not body.startswith(("cdef extern", "cdef class", "cdef inline")):
            m = re.match(r"^cdef\s+(.*?)\b(\w+)\((.*)\)\s*(?:except.*|noexcept.*|nogil.*)?$", body)
            if m and m.group(1).strip():
                args = m.group(3).strip()
                n = 0 if args in ("", "void") else split_args(args)
                if not m.group(2).startswith("__"):
                    out[m.group(2)] = ("function", n)
                continue
            m = re.match(r"^cdef\s+[\w\s\*]*?\b(\w+)$", body)
            if m:
                out.setdefault(m.group(1), ("macro", None))
    return out


def split_args(args):
    depth, n = 0, 1
    for ch in args:
        if ch in "([{<":
            depth += 1
        elif ch in ")]}>":
            depth -= 1
        elif ch == "," and depth == 0:
            n += 1
    return n


BIND_SKIP = re.compile(r"llvm|/util/|_helpers|/cuda/|__init__|amd_comgr|/_util/")


def read_bindings(folders):
    """ROCm Python bindings -> {module: {name: (kind, n)}}; both naming styles (cyhip.pxd and chip.pxd)."""
    mods = collections.defaultdict(dict)
    for folder in folders:
        for p in sorted(Path(folder).rglob("*.pxd")):
            s = str(p)
            m = re.match(r"^(?:cy|c)(hip\w*|rccl|roctx|amdsmi)$", p.stem)
            if BIND_SKIP.search(s) or not m:
                continue
            mods[m.group(1)].update(read_pxd(p))
    return dict(mods)


def read_interop(folder):
    """hip-python-interop: cimport ... as ... pairs, CUDA name -> (HIP name, module)"""
    pairs = {}
    for p in sorted(Path(folder).rglob("cy*.pxd")):
        text = re.sub(r"#.*", "", p.read_text())
        for m in re.finditer(r"from\s+rocm\.bindings\.(\w+)\s+cimport\s+(\([^)]*\)|[^\n]*)", text):
            for item in m.group(2).strip("()").replace("\n", " ").split(","):
                mm = re.match(r"^\s*(\w+)\s+as\s+(\w+)\s*$", item)
                if mm and mm.group(2) != mm.group(1) and not mm.group(2).startswith("HIP_PYTHON"):
                    pairs.setdefault(mm.group(2), (mm.group(1), p.stem[2:]))
    return pairs


def read_nvml_shim(folder):
    """pynvml shim of hip-python-interop -> {nvml function: first amdsmi function its body calls}"""
    out = {}
    for p in Path(folder).rglob("pynvml/__init__.py"):
        funcs = {n.name: n for n in ast.parse(p.read_text()).body if isinstance(n, ast.FunctionDef)}

        def first_call(name, depth=0):
            node = funcs[name]
            for c in ast.walk(node):
                if (
                    isinstance(c, ast.Attribute)
                    and c.attr.startswith("amdsmi_")
                    and not c.attr.endswith("_t")
                ):
                    return c.attr
            for c in ast.walk(node):
                if (
                    isinstance(c, ast.Call)
                    and isinstance(c.func, ast.Name)
                    and c.func.id in funcs
                    and c.func.id != name
                    and depth < 2
                ):
                    got = first_call(c.func.id, depth + 1)
                    if got:
                        return got
            return ""

        for name in funcs:
            if name.startswith("nvml"):
                out[name] = first_call(name)
    return out


def identifiers(folders, suffixes=(".h", ".hpp", ".inl", ".cuh")):
    """every identifier in a header tree (plus 'name(' for what is followed by a parenthesis): weak evidence of existence"""
    ids = set()
    for folder in folders or []:
        for p in Path(folder).rglob("*"):
            if p.suffix in suffixes and p.is_file():
                text = re.sub(r"//[^\n]*", "", strip_cpp_comments(p.read_text(errors="replace")))
                ids.update(re.findall(r"[A-Za-z_]\w+", text))
                ids.update(
                    "T:" + m
                    for m in re.findall(
                        r"\b(?:class|struct|enum|union|using)\s+(?:class\s+)?(?:(?:[A-Z_]{4,}|alignas|__\w+)(?:\s*\([^)]*\))?\s+)?([A-Za-z_]\w+)",
                        text,
                    )
                )
                ids.update("T:" + m for m in re.findall(r"\btypedef\b[^;{}]*?(\w+)\s*;", text))
                ids.update(m + "(" for m in re.findall(r"\b([A-Za-z_]\w+)\s*\(", text))
    return ids


def prototypes(folders):
    """name -> parameter count of C prototypes in ROCm library headers (None when they disagree)"""
    out = {}
    for folder in folders or []:
        for p in Path(folder).rglob("*"):
            if p.suffix not in (".h", ".hpp") or not p.is_file():
                continue
            text = strip_cpp_comments(p.read_text(errors="replace"))
            text = re.sub(r"//[^\n]*", "", text)
            text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M)
            for m in re.finditer(
                r"\b((?:miopen|rocblas_|rocsparse_|rocsolver_|rocrand_|rocfft_|rocshmem_|nccl)\w*)\s*\(([^(){};]*(?:\([^()]*\)[^(){};]*)*)\)\s*;",
                text,
            ):
                args = m.group(2).strip()
                n = 0 if args in ("", "void") else split_args(args)
                if out.get(m.group(1), n) != n:
                    out[m.group(1)] = None
                else:
                    out[m.group(1)] = n
    return out


# ----------------------------------------------------------------------------------------------
# 4. which header symbols are worth a row
# ----------------------------------------------------------------------------------------------
ALLOW = {
    "runtime": r"(cuda(?!\w*_pt[sd][sz]$)[A-Z]|CUDA_[A-Z]|CUDART_VERSION|make_(?!cuda_)|dim3$|CUuuid|libraryPropertyType|MAJOR_VERSION$|MINOR_VERSION$|"
    r"PATCH_LEVEL$|u?(char|short|int|long|longlong)[1-4](_\d+a)?$|(float|double)[1-4](_\d+a)?$|surfaceReference$|textureReference$|texture$|surface$)",
    "driver": r"(cu(?!\w*_pt[sd][sz]$)[A-Z]\w|CU[A-Za-z_]|cuuint)",
    "complex": r"(cu|make_cu)",
    "cublas": r"(cublas|CUBLAS)",
    "cublaslt": r"(cublasLt|CUBLASLT)",
    "cublasxt": r"(cublasXt|CUBLASXT)",
    "nvblas": r"(nvblas|NVBLAS|[sdcz](gemm|trsm|trmm|syrk|syr2k|symm|hemm|herk|her2k)$)",
    "cublasmp": r"(cublasMp|CUBLASMP)",
    "cufft": r"(cufft|CUFFT|cudaXt|CUFFT|cudaLib)",
    "cufftw": r"(fftwf?_|FFTWF?_)",
    "cufftmp": r"(cufft|CUFFT)",
    "curand": r"(curand|CURAND|skipahead)",
    "cusolver": r"(cusolver|CUSOLVER|csr|cudaLibMg|CUDALIBMG|CUBLAS_(DIRECT|STOREV))",
    "cusolvermp": r"(cusolverMp|CUSOLVERMP|CUSOLVER_)",
    "cusparse": r"(cusparse|CUSPARSE|csr|bsr)",
    "cusparselt": r"(cusparse|CUSPARSE)",
    "cudnn": r"(cudnn|CUDNN)",
    "nccl": r"(nccl(?!Gin(Api|Proxy)|LsaBarrierSession_int)[A-Z]|NCCL_|nccl$)",
    "nvrtc": r"(nvrtc|NVRTC|_nvrtc)",
    "nvjitlink": r"(nvJitLink|NVJITLINK)",
    "nvfatbin": r"(nvFatbin|NVFATBIN)",
    "nvptxcompiler": r"(nvPTXCompiler|NVPTXCOMPILE|nvPTX)",
    "nvvm": r"(nvvm|NVVM)",
    "nvml": r"(nvml|NVML)",
    "nvtx": r"(nvtx[A-Z]|nvtx3::|NVTX_(?!EXT|IMPL|INLINE|LINK|NOOP|REINT|STATIC|EXTERN|API|VERSIONED|INIT|CAST|PREFIX|SUPPRESS))",
    "cupti": r"(cupti|CUPTI_|CUpti|NV::Cupti|CUPTI::)",
    "sanitizer": r"(sanitizer|SANITIZER_|Sanitizer_)",
    "cufile": r"(cu[fF]ile|CUfile|CUFile|CU_FILE|CUFILE|IS_CU)",
    "nvjpeg": r"(nvjpeg|NVJPEG)",
    "npp": r"(npp|Npp|NPP)",
    "nvjpeg2k": r"(nvjpeg2k|NVJPEG2K)",
    "nvtiff": r"(nvtiff|NVTIFF)",
    "nvimgcodec": r"(nvimgcodec|NVIMGCODEC)",
    "cutensor": r"(cutensor|CUTENSOR)",
    "cutensornet": r"(cutensornet|CUTENSORNET)",
    "custatevec": r"(custatevec|CUSTATEVEC)",
    "nvshmem": r"(nvshmemx?_|NVSHMEMX?_(?!DECL|IMPL|TYPE_|REPT|HOSTDEVICE|ALWAYS|STATIC|CONCAT|DEVICE_)|nvshmemx::)",
    "cudss": r"(cudss|CUDSS)",
    "nvcomp": r"(nvcomp|NVCOMP)",
    "cub": r"(cub::|CUB_|Cub)",
    "thrust": r"(thrust::|THRUST_(?!PP_|MVCAP|NODISCARD|FWD|DECLTYPE|RETURNS|STATIC_|PREVENT|TAG|DEPRECAT|CPP_|CPP\d|HOST_COMPILER|COMP_DEPR|PREFERRED|BINARY|UNARY|STD|STRING|TRAIL|EXEC|FALSE|TRUE|NOEXCEPT|INLINE|OVERRIDE|OPTIONAL|SFINAE|GCC|CLANG|MSVC|MODERN|ENABLE|RDC|TUPLE|THRUST|RUN_|PROCLAIM|DISABLE|IGNORE_|SUPPRESS|SELECT|CURRENT|IF_|WARN|COMPILER|HAS_|NS_))",
    "libcudacxx": r"(cuda::)",
    "cuda_tile": r"(cuda::tiles::)",
    "cooperative_groups": r"(cooperative_groups::)",
    "wmma": r"(nvcuda::)",
    "device": r".",
}
ALLOW = {k: re.compile(v) for k, v in ALLOW.items()}
DEVICE_DROP = re.compile(
    r"^__(nv_(?!cvt_|fp|bfloat|half|saturation|atomic|E\dM)|internal|cuda|device_|local_|[iufld]+Atomic|signbit|isinf|isnan|isfinite|finite|copysign|"
    r"float_simpl|CUDA|DEVICE|SM_|DEF|COMMON|cudaGet|no_|ASSERT|DELETE|STORAGE|DEPREC|[A-Z_]+$|half_|tex|itex|surf|ull2|uAtomic|nv$)|^(_|STD$|THROW|EXCLUDE|IF_DEV|"
    r"uint\d+_t|uintptr_t|cuda::|nvcuda::|assert$|operator)"
)
DEVICE_GENERIC = set(
    "all any ballot free malloc memcpy memset printf clock assert mulhi mul24 umul24 umulhi saturate trap brkpt dadd dmul dsub fdivide uint2double ull2double "
    "int2double ll2double double2int double2uint double2ll double2ull double2float float2double float2int float2uint float2ll float2ull "
    "syncthreads_and syncthreads_or syncthreads_count int_as_float float_as_int mul64hi umul64hi __nv_atomic_enable_if "
    "__nv_atomic_triv_cp_helper prof_trigger pm0 pm1 pm2 pm3 sad usad int2float uint2float ll2float ull2float".split()
)
DEVICE_KEEP = re.compile(
    r"^__(NV_(ATOMIC|THREAD_SCOPE|E\dM\d|NOSAT|SATFINITE))|^__nv_(cvt_|fp|bfloat|half|saturation|atomic_)"
)
VECTOR = re.compile(r"^(make_)?((u?(char|short|int|long|longlong)|float|double)[1-4]|dim3)$")
EXPORT_BODY = re.compile(
    r"__declspec|__attribute__|extern\s+\"C\"|__stdcall|__cdecl|dllexport|^static|^inline|__inline"
)


def worth(lib, name, rec, mapped):
    if mapped:
        return True
    short = name.split("::")[-1]
    rx = ALLOW.get(lib)
    if rx is None or not rx.match(name):
        return False
    if lib == "device":
        if rec["kind"] == "macro":
            return bool(re.match(r"CUDART_", name)) and bool(rec.get("body"))
        if all(h.endswith(".hpp") for h in rec["headers"]):
            return False
        if all(h == "crt/math_functions.h" for h in rec["headers"]) and name.startswith("_"):
            return False
        if name in DEVICE_GENERIC:
            return False
        if DEVICE_KEEP.match(name):
            return True
        return not DEVICE_DROP.match(name)
    if short.startswith("_") or any(part.startswith("_") for part in name.split("::")):
        return False
    if re.search(r"_FORCE_INT$|_FORCE_INT_|_RESERVED\d*$|_MAX_ENUM$", name):
        return False
    if lib == "cub" and re.match(
        r"cub::(Agent\w+|\w+Kernel\w*|\w*PolicyWrapper|EmptyKernel|KernelConfig)$", name
    ):
        return False
    if (
        lib == "curand"
        and re.match(r"curand_+([A-Z0-9]|box_muller|mtgp|philox|poisson_|discrete$)", name)
        and not re.match(r"curand_discrete", name)
    ):
        return False
    if lib == "nccl" and any("/impl/" in h or "/gin/" in h for h in rec["headers"]):
        return False
    if rec["kind"] == "macro":
        body = rec.get("body") or ""
        if re.search(
            r"_(H|HPP|CUH)_*$|_INCLUDED$|_HEADER$|^CUDAGL_H|(VERSIONED_IDENTIFIER|CBID|_GUARD|STRUCT_SIZE)",
            name,
        ):
            return False
        if not rec.get("fnlike") and not body:
            return False
        if re.match(r"(CUB|THRUST|NVTX3?)_DETAIL_", name):
            return False
        if lib in ("cub", "thrust") and not re.search(
            r"_VERSION|WARP_THREADS|NAMESPACE|STDERR|_SYSTEM|DEBUG_SYNC|WRAPPED|RUNTIME_FUNCTION", name
        ):
            return False
        if EXPORT_BODY.search(body) or re.search(
            r"(API|EXPORT|CALLBACK|DEPRECATED\w*|DLL|_CB|INLINE|WINAPI)$", name
        ):
            return False
    return True


# ----------------------------------------------------------------------------------------------
# 5. names on the HIP side
# ----------------------------------------------------------------------------------------------
BINDING_OF = {
    "runtime": "hip",
    "driver": "hip",
    "nvrtc": "hiprtc",
    "cublas": "hipblas",
    "cublaslt": "hipblaslt",
    "cufft": "hipfft",
    "curand": "hiprand",
    "cusolver": "hipsolver",
    "cusparse": "hipsparse",
    "cusparselt": "hipsparselt",
    "cutensor": "hiptensor",
    "nccl": "rccl",
    "nvtx": "roctx",
    "cufile": "hipfile",
    "cudnn": "hipdnn_backend",
    "nvml": "amdsmi",
}
PREFIX = {
    "runtime": [("cuda", "hip"), ("CUDA_", "HIP_")],
    "driver": [
        ("cu", "hip"),
        ("cu", "hipDrv"),
        ("CU", "hip"),
        ("CU_", "HIP_"),
        ("CUDA_", "HIP_"),
        ("CU", "HIP"),
    ],
    "cublas": [("cublas", "hipblas"), ("CUBLAS_", "HIPBLAS_")],
    "cublaslt": [("cublasLt", "hipblasLt"), ("CUBLASLT_", "HIPBLASLT_")],
    "cufft": [("cufft", "hipfft"), ("CUFFT_", "HIPFFT_")],
    "curand": [("curand", "hiprand"), ("CURAND_", "HIPRAND_")],
    "cusolver": [
        ("cusolver", "hipsolver"),
        ("CUSOLVER_", "HIPSOLVER_"),
        ("CUSOLVERRF_", "HIPSOLVERRF_"),
        ("CUSOLVERDN_", "HIPSOLVERDN_"),
    ],
    "cusparse": [("cusparse", "hipsparse"), ("CUSPARSE_", "HIPSPARSE_")],
    "cusparselt": [("cusparseLt", "hipsparseLt"), ("CUSPARSELT_", "HIPSPARSELT_")],
    "cutensor": [("cutensor", "hiptensor"), ("CUTENSOR_", "HIPTENSOR_")],
    "nvrtc": [("nvrtc", "hiprtc"), ("NVRTC_", "HIPRTC_")],
    "cudnn": [("cudnn", "hipdnn"), ("CUDNN_", "HIPDNN_")],
    "nccl": [("nccl", "nccl"), ("NCCL_", "NCCL_")],
    "cufile": [("cuFile", "hipFile"), ("CUfile", "hipFile"), ("CU_FILE_", "hipFile"), ("CUFILE_", "hipFile")],
    "nvtx": [("nvtx", "roctx")],
    "complex": [("cu", "hip"), ("make_cu", "make_hip")],
    "curand_dev": [("curand", "hiprand"), ("CURAND_", "HIPRAND_")],
    "nvshmem": [
        ("nvshmemx_", "rocshmem_"),
        ("nvshmem_", "rocshmem_"),
        ("NVSHMEM_", "ROCSHMEM_"),
        ("NVSHMEMX_", "ROCSHMEM_"),
    ],
}


def squash(name):
    return name.replace("_", "").lower()


def bare(hip):
    """'hipArray *' -> hipArray, 'rocshmem::rocshmem_malloc' -> rocshmem_malloc"""
    return re.sub(r"[\s\*&]+$", "", hip).split("::")[-1].strip()


def alike(cuda, hip):
    """is a HIP name plausibly the counterpart of a CUDA name (HIPIFY's placeholders for unsupported names are sometimes random)"""
    import difflib

    a = re.sub(r"^(cuda|cu)", "", squash(cuda))
    c = re.sub(r"^hip", "", squash(hip))
    return difflib.SequenceMatcher(None, a, c).ratio() >= 0.55


def vkey(v):
    return tuple(int(x) for x in re.findall(r"\d+", v))


# ----------------------------------------------------------------------------------------------
# 6. build
# ----------------------------------------------------------------------------------------------
COLS = [
    "cuda_name",
    "library",
    "kind",
    "cuda_added",
    "cuda_deprecated",
    "cuda_removed",
    "hip_name",
    "hip_added",
    "hip_deprecated",
    "hip_removed",
    "hip_experimental",
    "roc_name",
    "in_cuda_11_8",
    "in_cuda_12",
    "in_cuda_13",
    "in_rocm_10",
    "map_status",
    "signature_change",
    "source",
    "note",
]
LABELS = [("11.8", "in_cuda_11_8"), ("12.9", "in_cuda_12"), ("13.5", "in_cuda_13")]


def load_caches(pairs):
    """LABEL=FILE arguments -> {label: {'symbols':…, 'tags':…, 'headers':…}}; several files for one label are merged"""
    out = {}
    for item in pairs or []:
        label, _, path = item.partition("=")
        data = json.loads(Path(path).read_text())
        tgt = out.setdefault(
            label,
            {
                "symbols": {},
                "tags": {},
                "headers": {},
                "mentioned": {},
                "extra": collections.defaultdict(set),
                "full": set(),
            },
        )
        first = not tgt["symbols"]
        for lib, syms in data["symbols"].items():
            cur = tgt["symbols"].setdefault(lib, {})
            if not cur:
                tgt["full"].add(lib)
            for name, rec in syms.items():
                if name not in cur:
                    cur[name] = rec
                    if not first and lib in tgt["full"] and len(cur) > 1:
                        tgt["extra"][(lib, name)].add(Path(path).stem)
        for k, v in data.get("mentioned", {}).items():
            tgt["mentioned"].setdefault(k, set()).update(v)
        for k, v in data["tags"].items():
            tgt["tags"].setdefault(k, []).extend(v)
        if first:
            tgt["headers"].update(data["headers"])
        else:
            for k, v in data["headers"].items():
                tgt["headers"].setdefault(k, v)
    return out


def nparams(lib, name, syms, depth=0):
    """parameter counts of the C prototype users see (aliases followed)"""
    rec = syms.get(lib, {}).get(name)
    if rec is None:
        return []
    body = rec.get("body") or ""
    m = re.match(r"^(?:__CUDA_API_\w+\()?(\w+)\)?$", body)
    if m and depth < 3 and m.group(1) != name and m.group(1) in syms.get(lib, {}):
        got = nparams(lib, m.group(1), syms, depth + 1)
        if got:
            return got
    np = rec.get("np") or {}
    for pref in ("cuda_runtime_api.h", "cuda.h", "cublas_v2.h", "cublas_api.h"):
        if pref in np:
            return sorted(np[pref])
    if rec.get("tmpl") and not np:
        return []
    vals = sorted({v for vs in np.values() for v in vs})
    return vals


def build(args):
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    main = load_caches(args.headers)
    series = load_caches(args.series)
    for lab in main:
        series.setdefault(lab, main[lab])
    series_labels = sorted(series, key=vkey)
    hipify, hipify_headers = read_hipify(args.hipify)
    torch_sym, torch_hdr = [], []
    for t in args.torch or []:
        label, _, path = t.partition("=")
        p, h = read_torch(path)
        torch_sym.append((label, p))
        torch_hdr.append((label, h))
    binds = read_bindings(args.bindings)
    allbind = {}
    for mod, syms in binds.items():
        for n, v in syms.items():
            allbind.setdefault(n, (mod,) + v)
    hipser = {}
    for item in args.hip_series or []:
        label, _, path = item.partition("=")
        hipser[label] = {n for syms in read_bindings([path]).values() for n in syms}
    hipser["10.0.0"] = set(allbind)
    hs_labels = sorted(hipser, key=vkey)
    interop = read_interop(args.interop) if args.interop else {}
    nvml_shim = read_nvml_shim(args.interop) if args.interop else {}
    newer = list(csv.DictReader(open(args.hipify_newer))) if args.hipify_newer else []
    hip71 = identifiers(args.hip_headers)
    hip71_funcs = set()
    for d in args.hip_headers or []:
        for p in Path(d).rglob("hip_runtime_api.h"):
            txt = re.sub(
                r"template\s*<[^;{]*?>\s*static.*?\{",
                "",
                strip_cpp_comments(p.read_text(errors="replace")),
                flags=re.S,
            )
            hip71_funcs |= set(
                re.findall(r"^\s*(?:hipError_t|const char\s*\*|int|void)\s+\*?(hip\w+)\s*\(", txt, flags=re.M)
            )
    hip_defaults = {}
    for d in (args.hip_headers or []) + (args.hip_device_headers or []):
        for p in Path(d).rglob("hip_runtime_api.h"):
            for m in re.finditer(
                r"\b(hip\w+)\s*\(([^;{]*?)\)\s*[;{]", strip_cpp_comments(p.read_text(errors="replace"))
            ):
                k = m.group(2).count("__dparm(") + len(re.findall(r"\w\s*=\s*\w", m.group(2)))
                if k:
                    hip_defaults[m.group(1)] = max(k, hip_defaults.get(m.group(1), 0))
    older = identifiers(args.hip_device_headers)
    rocids = {}
    for item in args.roc_headers or []:
        label, _, path = item.partition("=")
        rocids.setdefault(label, []).append(path)
    roc_proto = prototypes([p for ps in rocids.values() for p in ps])
    ident = {label: identifiers(paths) for label, paths in rocids.items()}

    # -- rows ------------------------------------------------------------------------------
    by_name = collections.defaultdict(set)  # name -> libs that declare it in headers
    for lab in main:
        for lib, syms in main[lab]["symbols"].items():
            for n in syms:
                if ALLOW[lib].match(n):
                    by_name[n].add(lib)
    src_maps = collections.defaultdict(
        lambda: collections.defaultdict(list)
    )  # (name, lib) -> source -> entries

    def home(name, lib):
        libs = by_name.get(name, set())
        if lib in libs or not libs:
            return lib
        if len(libs) == 1:
            return next(iter(libs))
        for pref in ("runtime", "driver", "device", "cublas", "cusolver", "cufft", "cusparse"):
            if pref in libs:
                return pref
        return sorted(libs)[0]

    def guess_lib(name, value=""):
        libs = by_name.get(name, set())
        if libs:
            return home(name, "?")
        for lib, rx in (
            ("cub", r"cub::|CUB_"),
            ("thrust", r"thrust::"),
            ("cooperative_groups", r"cooperative_groups::"),
            ("wmma", r"nvcuda::wmma"),
            ("cublaslt", r"cublasLt|CUBLASLT"),
            ("cublasxt", r"cublasXt|CUBLASXT"),
            ("cublas", r"cublas|CUBLAS_"),
            ("cufft", r"cufft|CUFFT_"),
            ("curand", r"curand|CURAND_"),
            ("cusolver", r"cusolver|CUSOLVER"),
            ("cusparselt", r"cusparseLt|CUSPARSELT"),
            ("cusparse", r"cusparse|CUSPARSE"),
            ("cudnn", r"cudnn|CUDNN"),
            ("nccl", r"nccl|NCCL_"),
            ("nvrtc", r"nvrtc|NVRTC_"),
            ("nvml", r"nvml|NVML_"),
            ("nvtx", r"nvtx|NVTX"),
            ("cufile", r"cuFile|CUfile|CUFile|CU_FILE|CUFILE|IS_CU"),
            ("nvshmem", r"nvshmem|NVSHMEM"),
            ("cutensor", r"cutensor|CUTENSOR"),
            ("complex", r"cu(Float|Double)?Complex|cuC[a-z]+f?$"),
            ("runtime", r"cuda[A-Z]|CUDA_R_|CUDA_C_|CUDART|make_cuda"),
            ("driver", r"cu[A-Z]|CU[a-z]|CU_|CUDA_"),
            ("device", r"__|atomic|tex\dD|surf\dD"),
        ):
            if re.match(rx, name):
                return lib
        return None

    fallback_kind = {}
    for e in hipify:
        name = e["name"]
        lib = e["lib"]
        if lib == "cub" and not name.startswith(("CUB_", "_Cub", "CubDebug", "cub")):
            name = "cub::" + name
        if lib == "cub" and name == "cub":
            name = "cub"
        lib = home(name, lib)
        src_maps[(name, lib)]["hipify"].append(e)
        fallback_kind.setdefault((name, lib), e["kind"])
    for r in newer:
        lib = home(r["cuda_name"], r["library"])
        src_maps[(r["cuda_name"], lib)]["hipify_newer"].append(r)
    skip_torch = re.compile(r"^(USE_CUDA|gloo|magma|std::|CUDNN_ENFORCE|CUDNN_CHECK|c10|at::|cu_err$)")
    torch_first = {}
    for label, pairs in torch_sym:
        for name, val in pairs.items():
            if skip_torch.match(name) or "=" in name or "/" in name or name.endswith("::"):
                continue
            lib = guess_lib(name, val)
            if lib is None:
                continue
            src_maps[(name, lib)]["torch"].append((label, val))
            torch_first.setdefault((name, lib), label)
    for name, (hip, mod) in interop.items():
        lib = {"driver": "driver", "runtime": "runtime", "nvrtc": "nvrtc", "cufile": "cufile"}.get(
            mod, "runtime"
        )
        if by_name.get(name):
            lib = home(name, lib)
        else:
            lib = guess_lib(name) or lib
        src_maps[(name, lib)]["interop"].append(hip)
    for name, hip in nvml_shim.items():
        src_maps[(name, "nvml")]["interop"].append(hip)

    keys = set(src_maps)
    for lab in main:
        tags = main[lab]["tags"]
        for lib, syms in main[lab]["symbols"].items():
            for n, rec in syms.items():
                if (n, lib) in src_maps:
                    keys.add((n, lib))
                    continue
                if (
                    rec["kind"] == "type"
                    and not rec.get("td")
                    and (n in tags or re.search(r"_(st|enum|s|v\d+_st)$", n) and n in tags)
                ):
                    continue  # struct/enum tag behind a typedef
                if rec["kind"] == "type" and rec.get("opaque") and not rec.get("defd") and not rec.get("td"):
                    continue
                if worth(lib, n, rec, False):
                    keys.add((n, lib))

    bind_squash = collections.defaultdict(lambda: collections.defaultdict(set))
    for mod, syms in binds.items():
        for n, (k, _) in syms.items():
            bind_squash[mod][squash(n)].add(n)

    runtime_names = {n for lab in main for n in main[lab]["symbols"].get("runtime", {})}
    has_lib = {lab: set(main[lab]["symbols"]) for lab in main}
    rows, report = [], collections.defaultdict(list)
    import difflib

    bindlist = {mod: sorted(syms) for mod, syms in binds.items()}
    stats = collections.defaultdict(collections.Counter)

    def present(lab, name, lib):
        rec = main[lab]["symbols"].get(lib, {}).get(name)
        return rec

    for name, lib in sorted(keys):
        maps = src_maps.get((name, lib), {})
        row = dict.fromkeys(COLS, "")
        row["cuda_name"], row["library"] = name, lib
        notes, sources = [], []
        recs = {}
        for lab, col in LABELS:
            if lab not in main or lib not in has_lib[lab]:
                continue
            rec = present(lab, name, lib)
            row[col] = "yes" if rec else "no"
            if rec:
                recs[lab] = rec
        if recs:
            sources.append("cuda_headers")
        newest = recs[max(recs, key=vkey)] if recs else None
        kind = newest["kind"] if newest else fallback_kind.get((name, lib), "")
        alias = ""
        if newest and newest.get("body"):
            m = re.match(r"^(?:__CUDA_API_\w+\()?([A-Za-z_]\w+)\)?$", newest["body"])
            if m:
                alias = m.group(1)
        if kind == "macro" and alias:
            tgt = main[max(recs, key=vkey)]["symbols"].get(lib, {}).get(alias)
            if tgt and tgt["kind"] in ("function", "device_function", "type", "enum_value"):
                kind = tgt["kind"]
        if kind == "macro" and alias and lib in ("driver", "nvtx") and re.match(r"(cu|nvtx)[A-Z]", alias):
            kind = "function"
        h = maps.get("hipify", [])
        if h and (not kind or (kind == "macro" and h[0]["kind"] == "function")):
            kind = h[0]["kind"]
        if h and h[0]["kind"] == "namespace":
            kind = "namespace"
        if not kind:
            tail = name.split("::")[-1]
            kind = (
                "enum_value"
                if re.match(r"^[A-Z0-9_]+$", tail)
                else "type"
                if tail.endswith("_t") or re.match(r"CU[a-z]", tail)
                else "class"
                if "::" in name
                else "function"
            )
        row["kind"] = kind
        if newest and newest.get("tmpl") and not newest.get("np"):
            notes.append("C++ template")
        if alias and alias != name and kind == "function":
            notes.append("alias of " + alias)
        extra = main.get("11.8", {}).get("extra", {}).get((lib, name))
        if extra and lib in ("cudnn", "cutensor") and row["in_cuda_12"] == "no":
            notes.append("only in " + {"cudnn": "cuDNN 8.9", "cutensor": "cuTENSOR 1.7"}[lib])

        guarded = [
            lab for lab, col in LABELS if row[col] == "no" and name in main[lab]["mentioned"].get(lib, ())
        ]
        if guarded and recs:
            notes.append("CUDA %s: only inside guarded header code" % ", ".join(guarded))
        # versions on the CUDA side
        if h:
            sources.append("hipify_6.3")
            row["cuda_added"], row["cuda_deprecated"], row["cuda_removed"] = (
                h[0][k] for k in ("cuda_added", "cuda_deprecated", "cuda_removed")
            )
        n = maps.get("hipify_newer", [])
        if n:
            sources.append("hipify_newer")
            for k in ("cuda_added", "cuda_deprecated", "cuda_removed"):
                row[k] = n[0][k] or row[k]
        present_in = [lab for lab in series_labels if series[lab]["symbols"].get(lib, {}).get(name)]
        covered = [lab for lab in series_labels if lib in series[lab]["symbols"]]
        if lib == "device" and newest and any(x.startswith("crt/") for x in newest["headers"]):
            covered = [lab for lab in covered if lab in ("11.8", "12.9", "13.0", "13.5")]
        if (
            recs
            and lib not in ("cudnn", "cutensor", "cusparselt", "nccl", "cufile", "nvshmem", "cudss", "nvcomp")
            and present_in
        ):
            first = min(present_in, key=vkey)
            i = covered.index(first) if first in covered else 0
            if not row["cuda_added"] and i > 0:
                prev = covered[i - 1]
                if first in ("13.0",) or prev in series_labels and minor_step(prev, first):
                    row["cuda_added"] = first
            last = max(present_in, key=vkey)
            j = covered.index(last) if last in covered else len(covered) - 1
            if j + 1 < len(covered):
                nxt = covered[j + 1]
                if minor_step(last, nxt):
                    if not row["cuda_removed"]:
                        row["cuda_removed"] = nxt
                    elif vkey(row["cuda_removed"]) != vkey(nxt):
                        report["cuda_removed_differs"].append(
                            [name, lib, "HIPIFY says " + row["cuda_removed"], "headers say " + nxt]
                        )
            elif (
                row["cuda_removed"]
                and vkey(row["cuda_removed"]) <= vkey("13.5")
                and row["in_cuda_13"] == "yes"
            ):
                report["cuda_removed_but_present"].append(
                    [name, lib, "HIPIFY says removed in " + row["cuda_removed"], "still in 13.5 headers"]
                )

        # HIP-side candidates --------------------------------------------------------------
        mod = BINDING_OF.get(lib)
        if lib == "curand" and kind == "device_function":
            mod = None
        cands = []  # (hip, source, trusted)
        for r in n:
            if r["hip_name"]:
                cands.append((r["hip_name"], "hipify_newer", True))
        for hip in maps.get("interop", []):
            if hip:
                cands.append((hip, "interop_10", True))
        for e in h:
            if e["hip_ok"]:
                cands.append((e["hip"], "hipify_6.3", True))
        torch_vals = maps.get("torch", [])
        for label, val in torch_vals:
            src = "torch_" + label
            if src not in sources:
                sources.append(src)
            cands.append((val, src, False))
        if maps.get("interop"):
            sources.append("interop_10")
        unsupported_guess = [e["hip"] for e in h if not e["hip_ok"] and e["hip"]]
        explicit_unsupported = (h and not any(e["hip_ok"] for e in h)) or (
            n and not any(r["hip_name"] for r in n)
        )
        roc = next((e["roc"] for e in h if e["roc_ok"]), "")
        if lib == "cudnn":
            for label, val in torch_vals:
                if val.startswith(("miopen", "MIOPEN")) and not roc:
                    roc = val.strip()
            cands = [c for c in cands if not c[0].startswith(("miopen", "MIOPEN"))]
        if roc.startswith(("hip", "HIP")) and roc == (cands[0][0] if cands else None):
            roc = ""
        row["roc_name"] = roc

        hip = src_of = ""
        new_support = rule = False
        if mod:
            found = [c for c in cands if bare(c[0]) in allbind]
            if found:
                hip, src_of, _ = found[0]
            else:
                for g in unsupported_guess:
                    partial = ident.get(mod + "_2024", ()) if mod in ("hipfft", "hiprand") else ()
                    if (bare(g) in binds.get(mod, {}) or bare(g) in allbind or bare(g) in partial) and alike(
                        name, bare(g)
                    ):
                        hip, src_of, new_support = g, "hipify_6.3", True
                        break
                twin = False
                if not hip:
                    cnt = (
                        {v for lab in main for v in nparams(lib, name, main[lab]["symbols"])}
                        if kind == "function"
                        else ()
                    )
                    g = rule_name(name, lib, kind, binds.get(mod, {}), bind_squash[mod], cnt)
                    twin = (
                        lib == "driver"
                        and kind == "function"
                        and g
                        and explicit_unsupported
                        and "cuda" + g[3:] in runtime_names
                    )
                    if twin:
                        notes.append("%s exists but takes the runtime API's arguments" % g)
                        report["driver_twin"].append([name, g])
                    elif g:
                        hip, src_of, rule = g, "name_rule", True
                        new_support = bool(explicit_unsupported)
                if not hip and not twin:
                    for c in cands:
                        if c[0].endswith("__"):
                            continue
                        hits = {
                            x
                            for x in bind_squash[mod].get(squash(bare(c[0])), ())
                            if kinds_fit(kind, binds[mod][x][0])
                        }
                        if len(hits) == 1 and re.match(r"hip|HIP|nccl|roctx|amdsmi", bare(c[0])):
                            hip, src_of = next(iter(hits)), "bindings_10"
                            report["wrong_case"].append([name, lib, c[0], c[1], hip])
                            break
                if not hip:
                    trusted = [c for c in cands if c[2]]
                    loose = [c for c in cands if not c[2]]
                    if trusted:
                        hip, src_of, _ = trusted[0]
                    elif loose:
                        val = loose[0][0]
                        if not re.match(
                            r"^(hip|HIP|nccl|NCCL|roctx|amdsmi|AMDSMI|rsmi|RSMI|miopen)", bare(val)
                        ):
                            hip, src_of = val, loose[0][1]  # maps to a plain type, e.g. int
                        elif bare(val) in hip71 or (
                            mod in ("hipfft", "hiprand") and bare(val) in ident.get(mod + "_2024", ())
                        ):
                            hip, src_of = val, loose[0][1]
                        else:
                            notes.append("torch maps it to %s, absent from ROCm 10" % bare(val))
                            report["torch_ghost"].append([name, lib, val])
        else:
            if cands:
                trusted = [c for c in cands if c[2]] or cands
                hip, src_of, _ = trusted[0]
            if not hip:
                for g in unsupported_guess:
                    if lib == "device" and (bare(g) in hip71 or bare(g) in older):
                        hip, new_support = g, True
                        src_of = "hip_headers_7.1" if bare(g) in hip71 else "rocm_headers_2024"
                        break
            if not hip:
                g = same_or_rule(name, lib, kind, hip71, older, ident)
                if g:
                    hip, src_of, rule = g[0], g[1], True
                    new_support = bool(explicit_unsupported)
            if hip and lib in (
                "device",
                "complex",
                "cooperative_groups",
                "cub",
                "thrust",
                "wmma",
                "libcudacxx",
                "nvshmem",
                "curand",
                "cublasxt",
            ):
                where = [
                    lbl
                    for lbl, ids in (("hip_headers_7.1", hip71), ("rocm_headers_2024", older))
                    if bare(hip) in ids
                ]
                for lbl, ids in ident.items():
                    if bare(hip) in ids and lib in (
                        "cub",
                        "thrust",
                        "nvshmem",
                        "wmma",
                        "libcudacxx",
                        "curand",
                    ):
                        where.append(lbl)
                for w in where[:2]:
                    if w not in sources:
                        sources.append(w)
        if not hip and lib == "runtime" and VECTOR.match(name) and re.sub(r"^make_", "", name) in hip71:
            hip, src_of = name, "hip_headers_7.1"
        if (
            not hip
            and lib == "runtime"
            and kind == "function"
            and name.startswith("cuda")
            and not explicit_unsupported
        ):
            if "hip" + name[4:] + "(" in hip71:  # C++ helpers that the bindings leave out
                hip, src_of = "hip" + name[4:], "hip_headers_7.1"
        row["hip_name"] = hip
        if src_of and src_of not in sources:
            sources.append(src_of)
        if not sources:
            sources.append("cuda_headers")

        # versions and existence on the HIP side
        b = bare(hip)
        if hip:
            for e in h:
                if e["hip"] == hip and e["hip_ok"]:
                    row["hip_added"], row["hip_deprecated"], row["hip_removed"], row["hip_experimental"] = (
                        e["hip_added"],
                        e["hip_deprecated"],
                        e["hip_removed"],
                        e["hip_experimental"],
                    )
            for r in n:
                if r["hip_name"] == hip:
                    row["hip_added"] = r["hip_added"] or row["hip_added"]
                    row["hip_removed"] = r["hip_removed"] or row["hip_removed"]
            seen = [lab for lab in hs_labels if b in hipser[lab]]
            if mod and mod not in (
                "hipblaslt",
                "hipsparselt",
                "hiptensor",
                "hipfile",
                "hipdnn_backend",
                "amdsmi",
            ):
                if seen and not row["hip_added"]:
                    row["hip_added"] = ("<=" if seen[0] in (hs_labels[0], hs_labels[-1]) else "") + seen[0]
                if seen and seen[-1] != hs_labels[-1] and not row["hip_removed"]:
                    row["hip_removed"] = hs_labels[hs_labels.index(seen[-1]) + 1]
            elif mod and seen and not row["hip_added"]:
                row["hip_added"] = "<=10.0.0"
            if mod:
                if b in allbind:
                    row["in_rocm_10"] = "yes"
                    if "bindings_10" not in sources:
                        sources.append("bindings_10")
                elif mod in ("hipfft", "hiprand") and b in ident.get(mod + "_2024", ()):
                    notes.append("declared in a %s header that the bindings do not wrap" % mod)
                    sources.append(mod + "_2024")
                elif re.match(r"^(hip|HIP|nccl|NCCL|roctx|ROCTX|amdsmi|AMDSMI|rsmi|RSMI)", b):
                    if mod in ("hip", "roctx") and b in hip71 and b not in hip71_funcs:
                        notes.append(
                            "macro or C++ name seen in HIP 7.1 headers; the bindings do not show such names"
                        )
                        if "hip_headers_7.1" not in sources:
                            sources.append("hip_headers_7.1")
                    elif kind == "macro" and mod != "hip":
                        pass
                    else:
                        row["in_rocm_10"] = "no"

        # parameter counts -------------------------------------------------------------------
        if kind in ("function", "device_function") and lib not in CXX_LIBS and lib != "device":
            counts = {lab: nparams(lib, name, main[lab]["symbols"]) for lab, _ in LABELS if lab in main}
            counts = {lab: v for lab, v in counts.items() if len(v) == 1}
            if counts:
                flat = {v[0] for v in counts.values()}
                text = []
                hn = allbind.get(b, (None, None, None))[2] if hip and row["in_rocm_10"] == "yes" else None
                if hn is not None and flat != {hn}:
                    k = hip_defaults.get(b, 0)
                    text.append(
                        "hip:%d%s"
                        % (hn, " (%d optional in C++)" % k if k and max(flat) < hn <= max(flat) + k else "")
                    )
                rn = roc_proto.get(bare(roc)) if roc else None
                if (
                    rn is not None
                    and flat != {rn}
                    and (lib == "cudnn" or not hip or row["in_rocm_10"] == "no")
                ):
                    text.append("roc:%d" % rn)
                if text:
                    cu = (
                        "cuda:%d" % next(iter(flat))
                        if len(flat) == 1
                        else " ".join(
                            "cuda%s:%d" % (lab, v[0])
                            for lab, v in sorted(counts.items(), key=lambda x: vkey(x[0]))
                        )
                    )
                    row["signature_change"] = cu + " " + " ".join(text)
                elif len(flat) > 1:
                    notes.append(
                        "CUDA parameter count changed: "
                        + ", ".join(
                            "%s has %d" % (lab, v[0])
                            for lab, v in sorted(counts.items(), key=lambda x: vkey(x[0]))
                        )
                    )

        # status ------------------------------------------------------------------------------
        if hip and row["in_rocm_10"] != "no":
            row["map_status"] = "mapped"
        elif hip and row["in_rocm_10"] == "no":
            row["map_status"] = "roc_only" if roc else "absent_in_rocm"
            if lib == "cudnn":
                notes.append("hip_name is the retired hipDNN wrapper")
        elif roc:
            row["map_status"] = "roc_only"
        elif explicit_unsupported:
            row["map_status"] = "unsupported"
        else:
            row["map_status"] = "unmapped"
        if lib == "cudnn" and row["map_status"] == "mapped" and b.lower().startswith("hipdnn"):
            notes.append("hipDNN graph back end" + (", or MIOpen" if roc else ""))
        if any("HIP_SUPPORTED_V2_ONLY" in e["flags"] for e in h) and hip:
            notes.append("only through cublas_v2.h")
        if new_support and hip:
            notes.append(
                "unsupported per HIPIFY 6.3, exists in ROCm 10"
                if row["in_rocm_10"] == "yes"
                else "unsupported per HIPIFY 6.3, declared in ROCm headers"
            )
            report["newly_supported"].append(
                [
                    name,
                    lib,
                    kind,
                    hip,
                    row["hip_added"],
                    row["signature_change"],
                    "rule" if rule else "hipify name",
                ]
            )
        elif rule and mod:
            notes.append("RCCL keeps the name" if lib == "nccl" else "matched by name only")
            report["rule_mapped"].append([name, lib, kind, hip, row["hip_added"]])
        for c in cands:  # a target one or two letters away from a real name is a typing error
            t = bare(c[0])
            if (
                mod
                and t not in allbind
                and t not in hip71
                and t != ""
                and not t.endswith("__")
                and lib != "cudnn"
            ):
                near = difflib.get_close_matches(t, bindlist.get(mod, []), 1, 0.955)
                seen_before = any(t in names for names in hipser.values())
                if near and near[0] in (b,) and not seen_before and squash(near[0]) != squash(t):
                    report["suspected_typo"].append([name, lib, t, c[1], near[0]])
        for e in h:
            t = bare(e["hip"])
            if (
                e["hip_ok"]
                and mod
                and t not in allbind
                and t not in hip71
                and t not in ident.get(mod + "_2024", ())
                and re.match(r"hip|HIP|roc|nccl", t)
            ):
                last = [lab for lab in hs_labels if t in hipser[lab]]
                report["hipify_target_absent"].append(
                    [name, lib, e["hip"], b if b in allbind else "", e["hip_added"], last[-1] if last else ""]
                )
        others = []
        for c in cands:
            if bare(c[0]) != b and bare(c[0]) not in [bare(o[0]) for o in others]:
                others.append(c)
        if hip and others:
            notes.append("also: " + ", ".join("%s (%s)" % (c[0], c[1]) for c in others[:2]))
            report["sources_disagree"].append(
                [name, lib, "%s (%s)" % (hip, src_of)] + ["%s (%s)" % (c[0], c[1]) for c in others[:3]]
            )
        if row["map_status"] == "absent_in_rocm" or (
            row["map_status"] == "roc_only" and row["in_rocm_10"] == "no" and lib != "cudnn"
        ):
            report["absent_in_rocm"].append(
                [name, lib, kind, hip, src_of, row["hip_added"], row["hip_removed"]]
            )
        if row["signature_change"] and kind == "function":
            report["signature_change"].append([name, lib, hip or roc, row["signature_change"]])
        if (
            not recs
            and h
            and any(lib in has_lib[lab] for lab in has_lib)
            and not row["cuda_removed"]
            and lib not in ("cub", "device")
        ):
            report["hipify_not_in_headers"].append([name, lib, row["cuda_added"], row["hip_name"]])
        row["note"] = "; ".join(dict.fromkeys(notes))[:240]
        row["source"] = ";".join(dict.fromkeys(sources))
        rows.append(row)
        stats[lib][row["map_status"]] += 1
        stats[lib]["symbols"] += 1

    write_csv(out / "symbols.csv", COLS, sorted(rows, key=lambda r: (r["library"], r["cuda_name"])))
    build_headers(out, main, hipify_headers, torch_hdr, rocids)
    if args.libraries:
        build_libraries(out, args.libraries, stats)
    lines = []
    for x in report["newly_supported"]:
        lines.append(
            [
                "newly_supported",
                x[0],
                x[1],
                "HIPIFY 6.3: unsupported",
                "%s exists (first seen %s)" % (x[3], x[4] or "?"),
                x[5],
            ]
        )
    for x in report["hipify_target_absent"]:
        fate = "; last seen in " + x[5] if x[5] else "; not seen since 6.2"
        lines.append(
            [
                "hipify_target_absent",
                x[0],
                x[1],
                "HIPIFY 6.3: %s (added %s)" % (x[2], x[4] or "?"),
                "not in ROCm 10" + fate + ("; now " + x[3] if x[3] else ""),
                "",
            ]
        )
    for x in report["torch_ghost"]:
        lines.append(["torch_target_absent", x[0], x[1], "torch: " + x[2], "not in ROCm 10", ""])
    for x in report["sources_disagree"]:
        lines.append(["sources_disagree", x[0], x[1], x[2], "; ".join(x[3:]), ""])
    for x in report["wrong_case"]:
        lines.append(["spelling", x[0], x[1], "%s: %s" % (x[3], x[2]), x[4], ""])
    for x in report["driver_twin"]:
        lines.append(
            [
                "same_name_other_arguments",
                x[0],
                "driver",
                "HIPIFY 6.3: unsupported",
                x[1] + " takes the runtime API's arguments",
                "",
            ]
        )
    for k in ("cuda_removed_but_present", "cuda_removed_differs"):
        for x in report[k]:
            lines.append(["cuda_removal", x[0], x[1], x[2], x[3], ""])
    ccols = ["category", "cuda_name", "library", "claim", "counter_evidence", "signature_change"]
    write_csv(
        out / "contradictions.csv",
        ccols,
        [dict(zip(ccols, r)) for r in sorted(map(list, {tuple(r) for r in lines}))],
    )
    report["stats"] = {k: dict(v) for k, v in stats.items()}
    report["md_check"] = check_md(args.hipify, hipify)
    Path(args.report or out / "report.json").write_text(json.dumps(report, indent=1))
    print(len(rows), "symbol rows;", {k: len(v) for k, v in report.items() if isinstance(v, list)})
    print("table check:", report["md_check"])


def minor_step(a, b):
    """True when no CUDA release lies between a and b"""
    order = [
        "11.8",
        "12.0",
        "12.1",
        "12.2",
        "12.3",
        "12.4",
        "12.5",
        "12.6",
        "12.8",
        "12.9",
        "13.0",
        "13.1",
        "13.2",
        "13.3",
        "13.4",
        "13.5",
    ]
    return a in order and b in order and order.index(b) == order.index(a) + 1


def rule_name(name, lib, kind, binding, squashed, counts):
    """obvious HIP spelling of a CUDA name, only if it exists in the bindings with a compatible kind"""
    stems = [name]
    if lib == "cublas":
        stems.append(re.sub(r"_v2(?=$|_64$)", "", name))
    m = re.match(r"^(.*?)(_v\d+)$", name)
    if m and lib in ("driver", "runtime", "cusparse"):
        stems.append(m.group(1))
    for i, stem in enumerate(dict.fromkeys(stems)):
        for old, new in PREFIX.get(lib, []):
            if not stem.startswith(old):
                continue
            cand = new + stem[len(old) :]
            hits = {cand} if cand in binding else set(squashed.get(squash(cand), ()))
            hits = {x for x in hits if kinds_fit(kind, binding[x][0])}
            if (
                i and lib != "cublas" and kind == "function"
            ):  # versioned name: only with the same parameter list length
                hits = {x for x in hits if counts and binding[x][1] in counts}
            if len(hits) == 1:
                return next(iter(hits))
    return ""


def kinds_fit(a, b):
    group = {
        "enum_value": 1,
        "macro": 1,
        "variable": 1,
        "type": 2,
        "class": 2,
        "function": 3,
        "device_function": 3,
    }
    return group.get(a, 0) == group.get(b, -1)


def same_or_rule(name, lib, kind, hip71, older, ident):
    """libraries without bindings: same or systematic name in ROCm headers -> (hip name, source)"""
    tail = name.split("::")[-1]
    probe = {
        "class": "T:" + tail,
        "type": "T:" + tail,
        "function": tail + "(",
        "device_function": tail + "(",
    }.get(kind, tail)
    if lib == "device":
        probe = name + "(" if kind == "device_function" else name
        if probe in hip71:
            return name, "hip_headers_7.1"
        if probe in older:
            return name, "rocm_headers_2024"
    elif lib == "complex":
        for old, new in PREFIX["complex"]:
            if name.startswith(old) and new + name[len(old) :] in older:
                return new + name[len(old) :], "rocm_headers_2024"
    elif lib == "cooperative_groups":
        if probe in ident.get("hip_cg", ()):
            return name, "hip_cg"
    elif lib == "cub":
        known = ident.get("hipcub_2024", ())
        if name.startswith("cub::") and (probe in known or "T:" + tail in known):
            return "hipcub::" + name[5:], "hipcub_2024"
        if name.startswith("CUB_") and "HIP" + name in ident.get("hipcub_2024", ()):
            return "HIP" + name, "hipcub_2024"
    elif lib == "thrust":
        known = ident.get("rocthrust_2024", ())
        if (
            probe in known
            or tail + "(" in known
            or "T:" + tail in known
            or ("::cuda::" in name and tail in known)
        ):
            return name.replace("thrust::cuda::", "thrust::hip::"), "rocthrust_2024"
    elif lib == "libcudacxx":
        if "::ptx::" not in name and probe in ident.get("libhipcxx_2025", ()) and name.count("::") == 1:
            return name, "libhipcxx_2025"
    elif lib == "wmma":
        if probe in ident.get("rocwmma", ()):
            return "rocwmma::" + tail, "rocwmma"
    elif lib == "nvshmem":
        for old, new in PREFIX["nvshmem"]:
            if name.startswith(old):
                for cand in (new + name[len(old) :], new + "ctx_" + name[len(old) :] if False else ""):
                    if cand and cand in ident.get("rocshmem_2025", ()):
                        return "rocshmem::" + cand if cand.islower() else cand, "rocshmem_2025"
    elif lib == "curand":
        for old, new in PREFIX["curand_dev"]:
            if name.startswith(old) and new + name[len(old) :] in ident.get("hiprand_2024", ()):
                return new + name[len(old) :], "hiprand_2024"
        if name in ident.get("hiprand_2024", ()):
            return name, "hiprand_2024"
    return None


def write_csv(path, cols, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        w = csv.DictWriter(f, cols, lineterminator="\n", extrasaction="ignore")
        w.writeheader()
        w.writerows(rows)


FLAT = {
    "hipblas.h": "hipblas/hipblas.h",
    "hipsparse.h": "hipsparse/hipsparse.h",
    "hipsolver.h": "hipsolver/hipsolver.h",
    "hipblaslt.h": "hipblaslt/hipblaslt.h",
    "hiprtc.h": "hip/hiprtc.h",
    "rocblas.h": "rocblas/rocblas.h",
    "rocsparse.h": "rocsparse/rocsparse.h",
}
HEADER_EXTRA = {  # header names seen in the bindings or in ROCm header trees
    "nccl.h": ("rccl/rccl.h", "", ""),
    "mma.h": ("rocwmma/rocwmma.hpp", "", "rocwmma"),
    "cutensor.h": ("hiptensor/hiptensor.h", "", "bindings_10"),
    "cufile.h": ("hipfile.h", "", "bindings_10"),
    "cuda_fp8.h": ("hip/hip_fp8.h", "", "rocm_headers_2024"),
    "cuda_bf16.h": ("hip/hip_bf16.h", "", "rocm_headers_2024"),
    "cublasLt.h": ("hipblaslt/hipblaslt.h", "", "bindings_10"),
    "cusparseLt.h": ("hipsparselt/hipsparselt.h", "", "bindings_10"),
    "nvshmem.h": ("rocshmem/rocshmem.hpp", "", "rocshmem_2025"),
    "nvshmemx.h": ("rocshmem/rocshmem.hpp", "", "rocshmem_2025"),
    "cuda_gl_interop.h": ("hip/hip_gl_interop.h", "", "rocm_headers_2024"),
    "nvtx3/nvToolsExt.h": ("roctracer/roctx.h", "", "bindings_10"),
    "nvToolsExt.h": ("roctracer/roctx.h", "", "bindings_10"),
    "cudnn_backend.h": ("hipdnn/backend/hipdnn_backend.h", "", "bindings_10"),
}
HEADER_NOTE = {
    "cudnn.h": "HIPIFY's hipDNN.h belongs to the retired wrapper; the new graph back end is hipdnn/backend/hipdnn_backend.h",
    "cusolverMg.h": "hipSOLVER has no multi-GPU functions",
    "nvtx3/nvToolsExt.h": "rocprofiler-sdk-roctx/roctx.h with the newer profiler",
    "nvml.h": "torch 2.13 and older: rocm_smi/rocm_smi.h",
}
HEADER_DROP = re.compile(
    r"^(crt/|Openacc/|Openmp/|cooperative_groups/details/|device/|device_host|device_host_transport/|bootstrap|host/)|cudnn\w*_v\d+\.h$|"
    r"/impl/|/detail/|/__|/specializations/|/dispatch/|/agent/|generated|_meta\.h|\.hpp$|/gin/|/system/|/tuning/|/host/|/linux|_stub\.h$"
)


def build_headers(out, main, hipify_headers, torch_hdr, roc_dirs):
    rows = {}
    for lab, col in LABELS:
        for rel, lib in main.get(lab, {}).get("headers", {}).items():
            if HEADER_DROP.search(rel) and not rel.endswith("nvtx3.hpp"):
                continue
            if lib in ("libcudacxx", "thrust") and rel.count("/") > 1:
                continue
            rows.setdefault(rel, {"cuda_header": rel, "library": lib})[col] = "yes"
    for name, hip, roc, flags, api in hipify_headers:
        if name.startswith("caffe2"):
            continue
        r = rows.setdefault(name, {"cuda_header": name, "library": owner_of(name) or API2LIB.get(api, "")})
        if hip and not flags & {"UNSUPPORTED", "HIP_UNSUPPORTED"} and hip != "hipDNN.h":
            r["hip_header"] = FLAT.get(hip, hip)
            if hip in FLAT:
                r["note"] = "HIPIFY 6.3 writes " + hip
        elif not hip:
            r["note"] = "not needed: hip/hip_runtime.h covers it"
        if roc and not flags & {"UNSUPPORTED", "ROC_UNSUPPORTED"}:
            r["roc_header"] = FLAT.get(roc, roc)
        r.setdefault("source", []).append("hipify_6.3")
    for label, pairs in torch_hdr:
        for name, hip in pairs.items():
            if re.match(r"gloo|c10|tensorpipe|caffe2|ATen|include|CUDATest", name) or not re.search(
                r"\.(h|hpp|cuh)$", name
            ):
                continue
            r = rows.setdefault(name, {"cuda_header": name, "library": owner_of(name) or ""})
            if not r.get("hip_header"):
                r["hip_header"] = hip
            elif r["hip_header"] != hip and "torch" not in r.get("note", ""):
                r["note"] = "; ".join(
                    x
                    for x in (
                        r.get("note", ""),
                        ("torch %s uses %s" % (label, hip)) if hip else "torch drops it",
                    )
                    if x
                )
            r.setdefault("source", []).append("torch_" + label)
    for k, (hip, roc, src) in HEADER_EXTRA.items():
        r = rows.setdefault(k, {"cuda_header": k, "library": owner_of(k) or ""})
        if not r.get("hip_header"):
            r["hip_header"] = hip
        if src:
            r.setdefault("source", []).append(src)
    for k, note in HEADER_NOTE.items():
        if k in rows:
            rows[k]["note"] = note
    for rel, r in rows.items():  # C++ libraries that keep or rename whole header trees
        if r.get("hip_header"):
            continue
        if rel.startswith("cub/") and r["library"] == "cub":
            twin = re.sub(r"^cub/", "", rel).replace(".cuh", ".hpp")
            if any(
                Path(d, "hipcub", twin).exists() or Path(d, "hipcub/backend/rocprim", twin).exists()
                for d in roc_dirs.get("hipcub_2024", ())
            ):
                r["hip_header"] = "hipcub/" + twin
                r.setdefault("source", []).append("hipcub_2024")
        elif rel.startswith("thrust/") and any(
            Path(d, re.sub(r"^thrust/", "", rel)).exists() for d in roc_dirs.get("rocthrust_2024", ())
        ):
            r["hip_header"] = rel
            r.setdefault("source", []).append("rocthrust_2024")
        elif (
            rel.startswith("cuda/")
            and r["library"] == "libcudacxx"
            and any(Path(d, rel).exists() for d in roc_dirs.get("libhipcxx_2025", ()))
        ):
            r["hip_header"] = rel
            r.setdefault("source", []).append("libhipcxx_2025")
    for r in rows.values():
        for lab, col in LABELS:
            if main.get(lab) and col not in r:
                r[col] = "no" if r["library"] in main[lab]["symbols"] else ""
        r["source"] = ";".join(
            dict.fromkeys(["cuda_headers"] * any(r.get(c) == "yes" for _, c in LABELS) + r.get("source", []))
        )
    cols = [
        "cuda_header",
        "library",
        "hip_header",
        "roc_header",
        "in_cuda_11_8",
        "in_cuda_12",
        "in_cuda_13",
        "source",
        "note",
    ]
    write_csv(out / "headers.csv", cols, [rows[k] for k in sorted(rows)])
    print(
        len(rows),
        "header rows,",
        sum(1 for r in rows.values() if r.get("hip_header") or r.get("roc_header")),
        "mapped",
    )


LIB_COLS = [
    "library",
    "cuda_library",
    "symbols",
    "mapped",
    "sonames",
    "link_flags",
    "cmake_targets",
    "pip_packages",
    "conda_packages",
    "deb_packages",
    "headers",
    "rocm_library",
    "hip_wrapper",
    "rocm_sonames",
    "rocm_link_flags",
    "rocm_cmake_targets",
    "rocm_packages",
    "status",
    "min_rocm",
    "checked",
    "evidence",
    "note",
]


def build_libraries(out, seed, stats):
    rows = list(csv.DictReader(open(seed, encoding="utf-8")))
    for r in rows:
        st = stats.get(r["library"])
        if st:
            r["symbols"], r["mapped"] = st["symbols"], st.get("mapped", 0) + st.get("roc_only", 0)
    seen = set()
    for r in rows:
        assert r["library"] not in seen, r["library"]
        assert r["status"] in ("equivalent", "partial", "none"), r
        seen.add(r["library"])
    write_csv(out / "libraries.csv", LIB_COLS, sorted(rows, key=lambda r: r["library"]))
    print(len(rows), "library rows")


def check_md(folder, entries):
    """compare read_hipify() with the published markdown tables"""
    tables = read_hipify_md(folder)
    want = {}
    for t, names in tables.items():
        if t.endswith(("_supported_by_HIP",)) or t == "CUDA_Device_API_supported_by_HIP":
            for n, cells in names.items():
                head = cells["head"]
                want[n] = (
                    (cells.get(5, ""), cells.get(1, ""), cells.get(4, ""), cells.get(6, ""))
                    if head[5] == "HIP"
                    else None
                )
    got = {}
    for e in entries:
        got.setdefault(e["name"], []).append(
            (
                e["hip"] if e["hip_ok"] else "",
                e["cuda_added"],
                e["cuda_removed"],
                e["hip_added"] if e["hip_ok"] else "",
            )
        )
    miss = [n for n in want if n not in got]
    diff = [(n, want[n], got[n]) for n in want if n in got and want[n] not in got[n]]
    roc_want = {
        n: cells.get(5, "")
        for t, names in tables.items()
        if re.search(r"supported_by_(ROC|MIOPEN)$", t) and "_and_" not in t
        for n, cells in names.items()
    }
    roc_got = {}
    for e in entries:
        roc_got.setdefault(e["name"], set()).add(e["roc"] if e["roc_ok"] else "")
    roc_diff = [
        (n, v, sorted(roc_got.get(n, []))) for n, v in roc_want.items() if v not in roc_got.get(n, set())
    ]
    return {
        "rows_in_tables": len(want),
        "missing": len(miss),
        "different": len(diff),
        "roc_rows": len(roc_want),
        "roc_different": len(roc_diff),
        "examples": [miss[:5], diff[:5], roc_diff[:5]],
    }


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = ap.add_subparsers(dest="step", required=True)
    s = sub.add_parser("scan", help="headers of one CUDA release -> JSON cache")
    s.add_argument("--label", required=True, help="CUDA version, e.g. 13.5")
    s.add_argument("--root", required=True, help="folder of unpacked wheels")
    s.add_argument("--also", action="append", help="folder whose include roots are searched but not recorded")
    s.add_argument("--only", help="comma list of translation units")
    s.add_argument("--out", required=True)
    b = sub.add_parser("build", help="caches + mapping sources -> CSV")
    b.add_argument("--hipify", required=True, help="checkout of HIPIFY")
    b.add_argument("--hipify-newer", help="CSV of facts from newer HIPIFY tables")
    b.add_argument(
        "--torch",
        action="append",
        metavar="VERSION=FILE",
        help="torch/utils/hipify/cuda_to_hip_mappings.py, newest first",
    )
    b.add_argument(
        "--bindings",
        action="append",
        required=True,
        help="unpacked rocm-bindings-* wheels of the newest ROCm",
    )
    b.add_argument(
        "--hip-series",
        action="append",
        metavar="VERSION=DIR",
        help="unpacked hip-python wheels of older ROCm releases",
    )
    b.add_argument("--interop", help="unpacked hip-python-interop wheel")
    b.add_argument(
        "--headers",
        action="append",
        metavar="LABEL=FILE",
        help="scan output for 11.8, 12.9, 13.5 (repeat a label to merge)",
    )
    b.add_argument(
        "--series", action="append", metavar="LABEL=FILE", help="scan output of in-between CUDA versions"
    )
    b.add_argument(
        "--hip-headers",
        action="append",
        help="newer HIP header tree (evidence for macros and device functions)",
    )
    b.add_argument("--hip-device-headers", action="append", help="older HIP device header tree")
    b.add_argument(
        "--roc-headers",
        action="append",
        metavar="LABEL=DIR",
        help="headers of ROCm libraries without bindings",
    )
    b.add_argument("--libraries", help="seed CSV for libraries.csv")
    b.add_argument("--out", required=True)
    b.add_argument("--report", help="where to write the JSON report (default: OUT/report.json)")
    args = ap.parse_args(argv)
    {"scan": scan, "build": build}[args.step](args)


if __name__ == "__main__":
    main()
