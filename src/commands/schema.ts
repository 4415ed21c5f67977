/**
 * `trueup schema [kind]`: prints one of the published JSON Schemas, by name: of each kind, the stack, any manifest, and what
 * commands print as JSON.
 */
import { Argument, type Command } from 'commander';
import { stackDocumentSchema } from '../manifest/schema/stack-schema.ts';
import { anyEditorSchema, editorSchema } from '../manifest/schema/template-schema.ts';
import type { JsonObject } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { nearestWord } from '../model/nearest-word.ts';
import { quoted } from '../model/quoted.ts';
import { policySchema } from '../policies/schema.ts';
import { driftSchema } from '../report/json/drift-schema.ts';
import { planSchema } from '../report/json/plan-schema.ts';
import {
  acceptSchema,
  applyEventSchema,
  differenceSchema,
  moveSchema,
  outcomesSchema,
  problemsSchema,
  recoverySchema,
} from '../report/json/result-schemas.ts';
import { addExamples, type CommandEnd, type CommonOptions, withCandidates } from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import type { CommandContext } from '../run/terminal.ts';
import { approvalSchema, approvalsSchema } from './approve/schema.ts';
import { eventsSchema } from './audit/schema.ts';
import { doctorSchema } from './doctor/schema.ts';
import { explanationSchema } from './explain-schema.ts';
import { fleetSchema } from './fleet/fleet-schema.ts';
import { fleetStatusSchema } from './fleet/schema.ts';
import { historySchema, revertSchema } from './history/schema.ts';
import { initSchema } from './init/schema.ts';
import { ledgerMoveSchema, ledgerPruneSchema, ledgerSchema } from './ledger/schema.ts';
import { policyReplaySchema, policyTestsSchema } from './policy-schema.ts';
import { loginSchema } from './role-check/schema.ts';
import { unlockSchema } from './unlock.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .addArgument(
      withCandidates(new Argument('[kind]', 'for example Workspace'), () =>
        [...allSchemas(host.kinds).keys()].map((value) => ({ value })),
      ),
    )
    .action(async (kind: string | undefined, options: CommonOptions) => {
      end(schema(kind, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup schema', 'list the names'],
    ['trueup schema Workspace > workspace.schema.json', 'write one schema into a file'],
  );
}

function schema(name: string | undefined, { host }: CommandContext): ExitCode {
  const schemas = allSchemas(host.kinds);
  if (name === undefined) {
    host.stdout.write(`${[...schemas.keys()].join('\n')}\n`);
    return exitCodes.done;
  }
  const found = [...schemas].find(([known]) => known.toLowerCase() === name.toLowerCase());
  if (found === undefined) {
    const near = nearestWord(name, [...schemas.keys()]);
    const hint =
      near === undefined ? `one of ${[...schemas.keys()].join(', ')}` : `did you mean ${quoted(near)}?`;
    throw new CommandStop('unknown-schema', `there is no schema ${quoted(name)}: ${hint}`);
  }
  host.stdout.write(`${JSON.stringify(found[1], null, 2)}\n`);
  return exitCodes.done;
}

// All JSON Schemas that trueup publishes, by name: of each kind, the stack, any manifest, and what commands print as JSON.

export function allSchemas(kinds: Registry): ReadonlyMap<string, JsonObject> {
  const named = [...kinds.values()].map((kind) => [kind.name, editorSchema(kind)] as const);
  return new Map<string, JsonObject>([
    ...named,
    ['Stack', stackDocumentSchema(kinds)],
    ['Policy', asJson(policySchema)],
    ['Fleet', asJson(fleetSchema)],
    ['Manifest', anyEditorSchema(kinds)],
    ['Plan', asJson(planSchema)],
    ['Problems', asJson(problemsSchema)],
    ['Difference', asJson(differenceSchema)],
    ['Outcomes', asJson(outcomesSchema)],
    ['ApplyEvent', asJson(applyEventSchema)],
    ['Approval', asJson(approvalSchema)],
    ['Approvals', asJson(approvalsSchema)],
    ['Drift', asJson(driftSchema)],
    ['FleetStatus', asJson(fleetStatusSchema)],
    ['History', asJson(historySchema)],
    ['Revert', asJson(revertSchema)],
    ['PolicyTests', asJson(policyTestsSchema)],
    ['PolicyReplay', asJson(policyReplaySchema)],
    ['Login', asJson(loginSchema)],
    ['Audit', asJson(eventsSchema)],
    ['Accept', asJson(acceptSchema)],
    ['Init', asJson(initSchema)],
    ['Ledger', asJson(ledgerSchema)],
    ['LedgerMove', asJson(ledgerMoveSchema)],
    ['Move', asJson(moveSchema)],
    ['LedgerPrune', asJson(ledgerPruneSchema)],
    ['Doctor', asJson(doctorSchema)],
    ['Recovery', asJson(recoverySchema)],
    ['Unlock', asJson(unlockSchema)],
    ['Explanation', asJson(explanationSchema)],
  ]);
}

/** A schema as plain JSON, the same as in a file. */
function asJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
