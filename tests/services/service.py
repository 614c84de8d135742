"""The service in FastAPI. Usage: service.py PORT LEDGER; see ledger.go for what it does."""

import asyncio
import os
import sys

import uvicorn
from fastapi import FastAPI, Request

port, file = int(sys.argv[1]), sys.argv[2]
ledger = os.open(file, os.O_APPEND | os.O_CREAT | os.O_RDWR)
with open(file) as lines:
    keys = {line.split()[1] for line in lines if len(line.split()) > 1}

app = FastAPI()


async def answer(id: str, request: Request) -> dict[str, str]:
    if request.query_params.get("slow"):
        await asyncio.sleep(0.3)
    return {"id": id}


@app.get("/readyz")
async def ready() -> None: ...


@app.get("/items/{id}")
async def read(id: str, request: Request) -> dict[str, str]:
    return await answer(id, request)


@app.put("/items/{id}")
@app.delete("/items/{id}")
@app.post("/notes/{id}")
async def write(id: str, request: Request) -> dict[str, str]:
    os.write(ledger, f"{id}\n".encode())
    return await answer(id, request)


@app.post("/orders/{id}")
async def order(id: str, request: Request) -> dict[str, str]:
    key = request.headers["Idempotency-Key"]
    if key not in keys:
        keys.add(key)
        os.write(ledger, f"{id} {key}\n".encode())
    return await answer(id, request)


uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
