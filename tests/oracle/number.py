"""Compares value/num with Python's decimal: parse and format, bytes, sums, differences, order, errors.

    number.py PROGRAM [SEED [CASES]]

The program (oracle_number.c) answers line by line through a pipe. SHEAF_SEED and SHEAF_TEST_SCALE work as in the unit
tests. Prints the seed and the counts; the first ten differences are shown and the exit code is 1.
"""
import collections
import decimal
import os
import random
import re
import subprocess
import sys
import threading

BIG = decimal.Context(prec=100000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.Inexact, decimal.InvalidOperation])
SYNTAX = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DIGITS, HIGH, LOW = 38, 125, -130


class Refused(Exception):
    """A number that DynamoDB does not store; the argument is the program's word for it."""


def judge(value, many_digits):
    """The number as DynamoDB keeps it. many_digits is the error of a number with more than 38 digits."""
    if not value:
        return decimal.Decimal(0)
    value = value.normalize(BIG)
    if value.adjusted() > HIGH:
        raise Refused("overflow")
    if value.adjusted() < LOW:
        raise Refused("underflow")
    if len(value.as_tuple().digits) > DIGITS:
        raise Refused(many_digits)
    return value


def parse(text):
    match = SYNTAX.fullmatch(text)
    if not match:
        raise Refused("numeric")
    exponent = int(match.group(2)[1:]) if match.group(2) else 0
    if abs(exponent) > 10 ** 17:  # more than decimal takes, and no text here is long enough to bring it back
        if not decimal.Decimal(match.group(1)):
            return decimal.Decimal(0)
        raise Refused("overflow" if exponent > 0 else "underflow")
    return judge(decimal.Decimal(text, BIG), "digits")


def encode(value):
    """The bytes of num.h, from the decimal text: pairs aligned at the point, outer zero pairs taken off."""
    if not value:
        return b"\x80"
    whole, _, fraction = format(value.copy_abs(), "f").partition(".")
    whole = "0" * (len(whole) % 2) + whole
    fraction += "0" * (len(fraction) % 2)
    pairs = [int(whole[i:i + 2]) for i in range(0, len(whole), 2)] + [int(fraction[i:i + 2]) for i in range(0, len(fraction), 2)]
    power = len(whole) // 2 - 1
    while pairs[0] == 0:
        pairs.pop(0)
        power -= 1
    while pairs[-1] == 0:
        pairs.pop()
    if value > 0:
        return bytes([193 + power] + [p + 1 for p in pairs])
    return bytes([62 - power] + [101 - p for p in pairs] + [102])


def expected(op, texts):
    try:
        values = [parse(t) for t in texts]
        if op == "P":
            return format(values[0], "f") + " " + encode(values[0]).hex().upper()
        a, b = values
        if op == "C":
            return "<" if a < b else ">" if a > b else "="
        return format(judge(BIG.add(a, b) if op == "A" else BIG.subtract(a, b), "overflow"), "f")
    except Refused as error:
        return error.args[0]


# ---- cases ----

EDGE_DIGITS = ["1", "9", "10", "99", "5", "25", "9" * 18, "9" * 19, "9" * 20, "1" + "0" * 18, "1" + "0" * 19, "9" * 37, "9" * 38, "9" * 39,
               "1" + "0" * 37 + "1", "1" + "0" * 36 + "1", str(2**63), str(2**63 - 1), str(2**64), str(2**64 - 1), str(2**126), "1" * 38, "1" * 39,
               "0", "00", "1" + "0" * 60, "18446744073709551616", "9223372036854775808" + "0" * 19]
EDGE_MAGNITUDES = [-132, -131, -130, -129, -128, -94, -93, -92, -39, -38, -37, -20, -19, -18, -2, -1, 0, 1, 2, 17, 18, 19, 36, 37, 38, 39, 87, 88, 89, 123,
                   124, 125, 126, 127]


def digits_of(rng):
    kind = rng.random()
    if kind < 0.15:
        return rng.choice(EDGE_DIGITS)
    n = rng.randint(1, 8) if kind < 0.5 else rng.randint(1, 40)
    if kind < 0.6:
        return "".join(rng.choice("09") for _ in range(n))
    return str(rng.randrange(10 ** n)).zfill(n if kind > 0.9 else 1)


def spelled(rng, digits, exponent):
    """One of the many texts of digits * 10^exponent."""
    kind = rng.random()
    sign = rng.choice(["", "", "-", "-", "+"])
    if kind < 0.2:
        digits = "0" * rng.randint(0, 5) + digits
    elif kind < 0.3:
        zeros = rng.randint(0, 45)
        digits, exponent = digits + "0" * zeros, exponent - zeros
    if exponent == 0 and rng.random() < 0.7:
        return sign + digits
    if -60 < exponent < 0 and rng.random() < 0.5:
        digits = digits.zfill(-exponent + rng.randint(0, 1))
        return sign + digits[:exponent] + "." + digits[exponent:]
    if rng.random() < 0.4:
        point = rng.randint(0, len(digits))
        exponent += len(digits) - point
        digits = digits[:point] + "." + digits[point:]
    return f"{sign}{digits}{rng.choice('eE')}{rng.choice(['', '+']) if exponent >= 0 else ''}{exponent}"


def number(rng):
    digits = digits_of(rng)
    kind = rng.random()
    if kind < 0.3:
        magnitude = rng.choice(EDGE_MAGNITUDES)
    elif kind < 0.65:
        magnitude = rng.randint(-6, 20)
    elif kind < 0.995:
        magnitude = rng.randint(-133, 128)
    else:
        magnitude = rng.choice([-1, 1]) * rng.randint(0, 10 ** rng.randint(1, 15))
    return spelled(rng, digits, magnitude - len(digits) + 1)


def broken(rng):
    text = number(rng)
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice([".", "e", "E", "-", "+", "x", ",", "_", "/", ":", "\u0665", "", " ", "\t"]) + text[at + rng.randint(0, 1):]


def pair(rng):
    """Two numbers, often so near in magnitude that their sum has about 38 digits."""
    a = number(rng)
    kind = rng.random()
    if kind < 0.2 and SYNTAX.fullmatch(a):
        value = decimal.Decimal(a, BIG)
        n = rng.randint(1, 38)
        return a, spelled(rng, str(rng.randrange(1, 10 ** n)), value.adjusted() - rng.randint(0, 39) if value else 0)
    if kind < 0.3 and SYNTAX.fullmatch(a):
        return a, ("" if a[0] == "-" else "-") + a.lstrip("+-")
    return a, number(rng)


def cases(rng, n):
    for magnitude in EDGE_MAGNITUDES:
        for digits in EDGE_DIGITS:
            for sign in ("", "-"):
                yield "P", (f"{sign}{digits}e{magnitude - len(digits) + 1}",)
    for _ in range(n):
        kind = rng.random()
        if kind < 0.3:
            yield "P", (number(rng),)
        elif kind < 0.35:
            yield "P", (broken(rng),)
        else:
            yield ("A" if kind < 0.6 else "S" if kind < 0.8 else "C"), pair(rng)


def main():
    seed = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("SHEAF_SEED", "20120810"), 0)
    n = int(sys.argv[3]) if len(sys.argv) > 3 else int(1100000 * float(os.environ.get("SHEAF_TEST_SCALE", "1")))
    print(f"seed {seed} (repeat with SHEAF_SEED={seed})")
    program = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    asked = collections.deque()

    def ask():
        lines = []
        for op, texts in cases(random.Random(seed), n):
            if not texts[0] or "\n" in "".join(texts):
                continue
            asked.append((op, texts))
            lines.append(f"{op} {' '.join(texts)}\n")
            if len(lines) == 2000:
                program.stdin.write("".join(lines).encode())
                lines.clear()
        program.stdin.write("".join(lines).encode())
        program.stdin.close()

    writer = threading.Thread(target=ask, daemon=True)
    writer.start()
    counts, wrong = collections.Counter(), 0
    for line in program.stdout:
        op, texts = asked.popleft()
        got, want = line.decode().rstrip("\n"), expected(op, texts)
        counts[op + (" " + want if want in ("overflow", "underflow", "digits", "numeric") else " ok")] += 1
        if got != want:
            wrong += 1
            if wrong <= 10:
                print(f"{op} {texts}: got {got}, wanted {want}")
    writer.join()
    code = program.wait()
    total = sum(counts.values())
    print(f"{total} cases: " + ", ".join(f"{k} {v}" for k, v in sorted(counts.items())))
    if asked or code != 0:
        print(f"the program stopped early: exit code {code}, {len(asked)} cases unanswered")
    print(f"{wrong} wrong")
    return 1 if wrong or asked or code != 0 or total < n * 0.9 else 0


sys.exit(main())
