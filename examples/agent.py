"""A task for Claude Code whose permission prompts Countersign answers: python3 agent.py 'fix the failing test'"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ResultMessage,
    query,
)


async def countersign(*args, given):
    """What `countersign` answers to one object. A cancelled task ends it with SIGTERM, which takes its question back."""
    child = await asyncio.create_subprocess_exec("countersign", *args, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    try:
        printed, said = await child.communicate(json.dumps(given).encode())
    except asyncio.CancelledError:
        if child.returncode is None:
            child.terminate()
        raise
    if child.returncode != 0:
        raise RuntimeError(said.decode().strip())  # Nobody decided: Claude Code then denies the call.
    return json.loads(printed)


# What the callback is not told of a call, such as where the shell stands; hooks are. By the call's id.
known = {}


async def guard(event, tool_use_id, context):
    """Before every call, those that never come to the callback among them: what is critical is denied."""
    known[tool_use_id] = {key: event.get(key) for key in ("cwd", "session_id", "permission_mode")}
    try:
        return await countersign("hook", "--guard", "critical", given=event)
    except (OSError, RuntimeError, ValueError) as error:
        reason = f"The guard does not run: {error}"
        denial = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denial}}


async def can_use_tool(tool_name, tool_input, context):
    request = {
        "tool_name": tool_name,
        "input": tool_input,
        "tool_use_id": context.tool_use_id,
        "agent_id": context.agent_id,
        "blocked_path": context.blocked_path,
        "title": context.title,
        "suggestions": [suggestion.to_dict() for suggestion in context.suggestions],
        **known.get(context.tool_use_id, {}),
    }
    result = await countersign("decide", given=request)
    if result["behavior"] == "deny":
        return PermissionResultDeny(message=result["message"], interrupt=result.get("interrupt", False))
    # Only what the person chose to have remembered. All suggestions together may switch the prompts off.
    chosen = [PermissionUpdate.from_dict(update) for update in result.get("updatedPermissions", [])]
    return PermissionResultAllow(updated_input=result["updatedInput"], updated_permissions=chosen or None)


async def messages(task):
    """Streaming input; more messages may follow, as answers to what the model says."""
    yield {"type": "user", "message": {"role": "user", "content": task}, "parent_tool_use_id": None}


async def main(task):
    # Releases that close the stream after the last message keep it open as long as there is a hook.
    hooks = {"PreToolUse": [HookMatcher(hooks=[guard])]}
    options = ClaudeAgentOptions(can_use_tool=can_use_tool, hooks=hooks)
    async for message in query(prompt=messages(task), options=options):
        if isinstance(message, ResultMessage):
            for denied in message.permission_denials or []:
                print(f"denied: {denied['tool_name']}", file=sys.stderr)
            print(message.result or message.subtype)


asyncio.run(main(sys.argv[1]))
