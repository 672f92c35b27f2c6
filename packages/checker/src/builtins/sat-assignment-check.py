"""The builtin sat-assignment-check:1: does an assignment satisfy a CNF instance?

The instance is DIMACS CNF, the assignment as of a SAT competition: comment lines (c), at most one line s SATISFIABLE,
lines of literals (v) of which the last literal is followed by 0.
"""

import json
import os
import re
import sys

VARIABLES_MAX = 5_000_000
LITERAL = re.compile(r"-?[1-9][0-9]*|0")
# Longer numbers name no variable of any instance that is read.
DIGITS_MAX = 10


class Malformed(Exception):
    """What was read is not in its format, so that nothing can be said about it."""


class Refuted(Exception):
    """It is in its format, and no satisfying assignment."""


def lines_of(path):
    """Lines without their ends, which may be those of Windows; no byte of any is lost."""
    with open(path, "rb") as file:
        for line in file.read().decode("latin-1").split("\n"):
            yield line.removesuffix("\r")


def words_of(line):
    return [word for word in line.replace("\t", " ").split(" ") if word]


def literal_of(word):
    if not LITERAL.fullmatch(word):
        raise Malformed("expected a literal, got " + ascii(word[:40]))
    # Longer than Python itself reads, and longer than any variable's name.
    return int(word) if len(word) <= DIGITS_MAX + 1 else 10 ** (DIGITS_MAX + 1)


def read_instance(path):
    """The number of variables, and the clauses."""
    variables, count, clauses, clause = None, 0, [], []
    for line in lines_of(path):
        words = words_of(line)
        if not words or line.startswith("c"):
            continue
        if words[0] == "%":
            break
        if words[0] == "p":
            if variables is not None or len(words) != 4 or words[1] != "cnf":
                raise Malformed("expected one line p cnf VARIABLES CLAUSES")
            variables, count = literal_of(words[2]), literal_of(words[3])
            if not 0 <= variables <= VARIABLES_MAX or count < 0:
                raise Malformed("expected at most %d variables" % VARIABLES_MAX)
            continue
        if variables is None:
            raise Malformed("expected a line p cnf VARIABLES CLAUSES before the first clause")
        for word in words:
            literal = literal_of(word)
            if abs(literal) > variables:
                raise Malformed("a clause names variable %s of %d" % (word[:40], variables))
            if literal == 0:
                clauses.append(clause)
                clause = []
            else:
                clause.append(literal)
    if variables is None:
        raise Malformed("expected a line p cnf VARIABLES CLAUSES, got none")
    if clause:
        raise Malformed("expected a 0 after the last clause, got none")
    if len(clauses) != count:
        raise Malformed("expected %d clauses, got %d" % (count, len(clauses)))
    return variables, clauses


def read_assignment(path, variables):
    """The literals that are true."""
    true, has_ended, has_values, has_status = set(), False, False, False
    for line in lines_of(path):
        kind, _, rest = line.replace("\t", " ").partition(" ")
        if line.startswith("c") or not words_of(line):
            continue
        if kind == "s":
            if has_status:
                raise Malformed("expected one line s, got two")
            has_status = True
            if words_of(rest) != ["SATISFIABLE"]:
                raise Refuted("expected s SATISFIABLE, got s " + ascii(rest[:40]))
            continue
        if kind != "v":
            raise Malformed("expected lines c, s and v, got " + ascii(line[:40]))
        has_values = True
        for word in words_of(rest):
            if has_ended:
                raise Malformed("expected nothing after the 0 that ends the assignment")
            literal = literal_of(word)
            if literal == 0:
                has_ended = True
            elif abs(literal) > variables:
                raise Refuted("variable %s is not in the instance" % word[:40])
            elif -literal in true:
                raise Refuted("variable %d is both true and false" % abs(literal))
            else:
                true.add(literal)
    if not has_values:
        raise Malformed("expected lines v with an assignment, got none")
    if not has_ended:
        raise Malformed("expected a 0 after the last literal, got none")
    return true


def check(variables, clauses, true):
    if len(true) < variables:
        first = next(v for v in range(1, variables + 1) if v not in true and -v not in true)
        raise Refuted("%d of %d variables are not assigned, first %d" % (variables - len(true), variables, first))
    for number, clause in enumerate(clauses, 1):
        if true.isdisjoint(clause):
            raise Refuted("clause %d of %d is not satisfied" % (number, len(clauses)))


def decide(instance_path, assignment_path):
    """The result, and in one sentence why."""
    try:
        variables, clauses = read_instance(instance_path)
    except Malformed as problem:
        return "inconclusive", "the instance can not be read: %s" % problem
    try:
        check(variables, clauses, read_assignment(assignment_path, variables))
    except Malformed as problem:
        return "inconclusive", "the assignment can not be read: %s" % problem
    except Refuted as problem:
        return "refuted", str(problem)
    return "verified", "all %d variables are assigned, all %d clauses satisfied" % (variables, len(clauses))


def main():
    with open("/input/manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    instance = next(each["path"] for each in manifest["reference"] if each["key"] == "instance")
    assignment = next(each["path"] for each in manifest["artifacts"] if each["role"] == "assignment")
    result, reason = decide(instance, assignment)
    os.makedirs("/output/evidence", exist_ok=True)
    satisfies = None if result == "inconclusive" else result == "verified"
    with open("/output/evidence/summary.json", "w", encoding="utf-8") as file:
        json.dump({"satisfies": satisfies}, file)
    with open("/output/result.json", "w", encoding="utf-8") as file:
        json.dump({"result": result, "reason": reason}, file)


if __name__ == "__main__":
    sys.exit(main())
