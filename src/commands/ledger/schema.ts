/** The schemas of `ledger show`, `move` and `prune` as JSON; files in `schemas/` are generated from them. Members may be added. */
import { Type } from 'typebox';
import { closed, count, diagnosticSchema } from '../../report/json/plan-schema.ts';

const commit = Type.Object(
  {
    id: Type.String(),
    dirty: Type.Optional(
      Type.Literal(true, { description: 'the work tree had changes that were not committed' }),
    ),
    uncommitted: Type.Optional(
      Type.String({
        description: 'hash of what was declared, if files of the stack had uncommitted changes',
      }),
    ),
  },
  closed,
);

export const ledgerSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    place: Type.String({ description: 'where the ledger is, for people' }),
    known: Type.Boolean({ description: 'false before the first apply' }),
    serial: Type.Integer({ description: 'counts the writes of the ledger' }),
    stackId: Type.Optional(Type.String({ description: 'the id in the ownership tags of this stack' })),
    repository: Type.Optional(
      Type.Object(
        { remote: Type.Optional(Type.String()), path: Type.String() },
        {
          ...closed,
          description: 'where the manifests come from: remote, and path of the stack file',
        },
      ),
    ),
    commit: Type.Optional(commit),
    otherCommits: Type.Array(commit, {
      description: 'commits that were applied before and do not belong to the history of "commit"',
    }),
    targets: Type.Record(Type.String(), Type.String(), {
      description: 'the identity of each target, by name',
    }),
    records: Type.Object(
      {
        total: count,
        kinds: Type.Record(
          Type.String(),
          Type.Object({ total: count, created: count, adopted: count }, closed),
        ),
      },
      closed,
    ),
    begunCreations: Type.Optional(
      Type.Array(Type.String(), {
        description: 'addresses of creations of unknown outcome; missing when the history cannot be read',
      }),
    ),
    approvals: Type.Object(
      {
        open: Type.Optional(
          Type.Object(
            {
              digest: Type.String(),
              guards: Type.Array(Type.String(), { description: 'the acknowledged guards' }),
              since: Type.Optional(Type.String()),
            },
            closed,
          ),
        ),
        ended: count,
      },
      closed,
    ),
    lock: Type.Optional(
      Type.Object({
        id: Type.String({ description: 'what "trueup unlock" takes' }),
        since: Type.String(),
        run: Type.Object({ id: Type.String(), who: Type.String(), where: Type.String() }),
      }),
    ),
    closedFor: Type.Optional(Type.String({ description: 'the new name of a renamed stack' })),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/ledger.schema.json', title: 'trueup ledger show' },
);

const moveEnd = Type.Object(
  {
    ledger: Type.Unknown({ description: 'as "spec.ledger" has it' }),
    place: Type.String({ description: 'the same for people' }),
  },
  closed,
);

export const ledgerMoveSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    from: Type.Optional(moveEnd),
    to: moveEnd,
    moved: Type.Boolean({ description: 'false with --dry-run, and when the ledger was there already' }),
    dryRun: Type.Boolean({ description: 'it would be moved, and nothing was written' }),
    records: count,
    applies: Type.Optional(Type.Integer({ description: 'entries of the history, if they were copied now' })),
    approvals: Type.Object({ open: count, ended: count }, closed),
    stackFile: Type.Object(
      {
        file: Type.String(),
        namesNewPlace: Type.Boolean({ description: 'whether it named the new place before' }),
        written: Type.Boolean({ description: '"spec.ledger" was changed' }),
        ledger: Type.Unknown({ description: 'what "spec.ledger" has to be' }),
      },
      closed,
    ),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  {
    ...closed,
    $id: 'https://trueup.dev/schemas/ledger-move.schema.json',
    title: 'trueup ledger move',
  },
);

export const ledgerPruneSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    place: Type.String({ description: 'where the ledger is, for people' }),
    dryRun: Type.Boolean({ description: 'nothing was dropped' }),
    dropped: count,
    kept: count,
    entries: Type.Array(Type.String(), { description: 'ids of the applies that were dropped, newest first' }),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  {
    ...closed,
    $id: 'https://trueup.dev/schemas/ledger-prune.schema.json',
    title: 'trueup ledger prune',
  },
);
