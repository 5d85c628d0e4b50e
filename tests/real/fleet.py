"""Asks the ten questions of docs/guide/fleet.md: python fleet.py GUIDE DATASET [--compare | --write].

Runs them with DuckDB and DataFusion, and reads the dataset with DuckDB and Polars. --compare compares DuckDB's answers with those
in the guide, --write writes them there. Without either, the dataset may be any.
"""

import re
import sys

import datafusion
import duckdb
import polars

guide_path, dataset = sys.argv[1:3]
mode = sys.argv[3] if len(sys.argv) > 3 else None
guide = open(guide_path, encoding="utf-8").read()
BLOCK = re.compile(r"```sql\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)
blocks = [(match.group(1).replace("dataset/", dataset + "/"), match.group(2) or "", match.span()) for match in BLOCK.finditer(guide)]


def table(connection, query):
    """An answer as text in columns."""
    answer = connection.execute(query)
    rows = [[column[0] for column in answer.description]]
    rows += [["" if value is None else str(value) for value in row] for row in answer.fetchall()]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


duck = duckdb.connect()
# The answers are the same in every time zone.
duck.execute("SET TimeZone = 'Asia/Tokyo'")
(view, *_), *questions = blocks
assert len(questions) == 10, f"{len(questions)} questions"
duck.execute(view)
answers = []
for number, (query, expected, _) in enumerate(questions, 1):
    answer = table(duck, query)
    answers.append(answer)
    if mode == "--compare":
        assert answer == expected, f"question {number}:\n{answer}\ninstead of\n{expected}"

# The same files with Polars.
frame = polars.read_parquet(f"{dataset}/*/*/*.parquet", hive_partitioning=True)
count, total, payloads = duck.execute("SELECT count(*), sum(bytes), sum(strlen(payload)) FROM messages").fetchone()
assert count > 0, "the dataset is empty"
assert (frame.height, frame["bytes"].sum()) == (count, total)
assert frame["payload"].str.len_bytes().sum() == payloads
assert frame.schema["time"] == polars.Datetime("us", "UTC"), frame.schema
names = [row[0] for row in duck.execute("DESCRIBE messages").fetchall()]
assert set(frame.columns) == set(names), set(frame.columns) ^ set(names)

# The types are those of the table in the guide; both engines add the columns of the paths.
columns = re.findall(r"^\| `(\w+)` \| ([\w ]+?)( \*)? \|", guide, re.M)
types = {row[0]: row[1] for row in duck.execute("DESCRIBE messages").fetchall()}
assert [name for name in names if name not in ("day", "server")] == [name for name, _, _ in columns]
for name, kind, required in columns:
    assert types[name] == kind, (name, types[name], kind)
    if required:
        assert frame[name].null_count() == 0, name

# DataFusion has another name for one function.
fusion = datafusion.SessionContext()
fusion.sql(
    "CREATE EXTERNAL TABLE messages STORED AS PARQUET PARTITIONED BY (day, server) "
    f"LOCATION '{dataset}/'"
)
for number, (query, _, _) in enumerate(questions, 1):
    query = query.replace("quantile_cont", "approx_percentile_cont").rstrip().rstrip(";")
    rows = sum(batch.num_rows for batch in fusion.sql(query).collect())
    expected = answers[number - 1].count("\n") - 1
    assert rows == expected, f"DataFusion, question {number}: {rows} rows instead of {expected}"

if mode == "--write":
    for (_, _, (start, end)), answer in reversed(list(zip(questions, answers))):
        query = BLOCK.match(guide[start:end]).group(1)
        guide = guide[:start] + f"```sql\n{query}```\n\n```text\n{answer}```\n" + guide[end:]
    open(guide_path, "w", encoding="utf-8").write(guide)
print(f"{len(questions)} questions, {count} messages")
for answer in answers:
    print(answer)
