"""Faults of a model endpoint, which skills call."""
import asyncio

from models import Model

from .case import User, all_finished, fault, require, running

# What the model server does to whoever says so, and the code that the job fails with.
CASES = {
    "hangs before its headers": ("hang", "model_timeout"),
    "stalls in mid-stream": ("hang-mid-stream?say=one two three four five", "model_timeout"),
    "answers 429 for ever": ("429?retry_after=0.2", "model_busy"),
    "answers 500 for ever": ("500", "model_failed"),
    "sends what is no JSON": ("malformed-json?say=one two three four five", "model_bad_response"),
    "resets after some words": ("cut-rst?say=one two three four five", "truncated"),
}


@fault(37, "a model endpoint that refuses, hangs, stalls, answers 429 or 500, sends garbage or resets")
async def bad_endpoint(folder, programs):
    model = Model(folder, [{"if": f"^{text}", "behavior": behavior} for text, (behavior, _) in CASES.items()])
    environment = {"SKILLBUS_LLM_URL": model.url, "SKILLBUS_LLM_MODEL": "m", "SKILLBUS_LLM_FIRST_TOKEN_SECONDS": "1",
                   "SKILLBUS_LLM_IDLE_SECONDS": "1"}
    try:
        with running(folder, programs, ("chat", 1, 8), ("calculator", 1, None), environment=environment) as system:
            async with User(system) as user, User(system) as other:
                requests = {await user.ask("chat", text): code for text, (_, code) in CASES.items()}
                await other.ask("calculator", "6 * 7")
                all_finished(await other.all_ended(10))
                await user.all_ended(60)
                for request, code in requests.items():
                    error = user.ends()[request]["data"].get("error", {})
                    require(error.get("code") == code and error.get("hint"), f"{code} expected, {error} came")
                model.close()
                gone = await user.ask("chat", "is anybody there")
                await user.all_ended(30)
                error = user.ends()[gone]["data"].get("error", {})
                require(error.get("code") == "model_unreachable", f"{error}")
                return "each ended by its own code and words (" + ", ".join(
                    sorted({*requests.values(), "model_unreachable"})) + "), a local skill beside them at once"
    finally:
        if model.process.poll() is None:
            await asyncio.to_thread(model.close)
