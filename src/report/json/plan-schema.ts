/**
 * The schema of a plan as JSON: the source of `schemas/plan.schema.json` and of the type that `plan.ts` uses.
 * Version 2: members may be added, but none may be removed or get another meaning.
 */
import { type Static, Type } from 'typebox';
import { type Guard, type GuardId, guardIds, type RiskGuard } from '../../model/guard.ts';
import { anyGuardId, changedNamesSchema, partSchema, policiesSchema } from './policies-schema.ts';
import type { Json } from '../../model/json.ts';
import { planVersion } from '../../model/plan.ts';

/** Objects without other members. */
export const closed = { additionalProperties: false };
export const count = Type.Integer({ minimum: 0 });
const json = (description: string) => Type.Unsafe<Json>({ description });
const text = (description: string) => Type.String({ description });
const texts = (description: string) => Type.Array(Type.String(), { description });

export const placeSchema = Type.Object(
  { file: Type.String(), line: Type.Integer({ minimum: 1 }), column: Type.Integer({ minimum: 1 }) },
  { ...closed, description: 'where a manifest declares it; lines and columns count from 1' },
);

export const addressParts = {
  address: text('kind/target/name'),
  kind: Type.String(),
  target: Type.String(),
  name: Type.String(),
};

export const diagnosticSchema = Type.Object(
  {
    code: text('stable and searchable, in kebab-case'),
    severity: Type.Enum(['error', 'warning']),
    class: Type.Enum(['invalid', 'conflict', 'incomplete', 'failure']),
    message: Type.String(),
    place: Type.Optional(placeSchema),
    found: Type.Optional(Type.String()),
    allowed: Type.Optional(Type.String()),
    fix: Type.Optional(text('how to fix it, as an instruction')),
    related: Type.Optional(
      Type.Array(Type.Object({ message: Type.String(), place: Type.Optional(placeSchema) }, closed)),
    ),
  },
  closed,
);

const valueHash = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const fieldSchema = Type.Object(
  {
    path: text('JSON pointer below the spec'),
    before: Type.Optional(json('canonical; missing when there is no such member, or when it is unknown')),
    after: Type.Optional(json('canonical; missing when the member is removed')),
    shape: Type.Enum(['scalar', 'text', 'list', 'set', 'map', 'duration', 'secret']),
    unknown: Type.Optional(text('why the previous value is unknown')),
    origin: Type.Optional(text('where the value comes from, if not from the manifest')),
    names: Type.Optional(
      Type.Array(
        Type.Object(
          {
            at: text('JSON pointer of an id below the value; empty when the whole value is the id'),
            before: Type.Optional(text('the name of the object with this id, in the value before')),
            after: Type.Optional(text('the name of the object with this id, in the value after')),
          },
          closed,
        ),
        { description: 'the names of objects whose ids the values contain, for display only' },
      ),
    ),
    redacted: Type.Optional(
      Type.Object(
        { before: Type.Optional(valueHash), after: Type.Optional(valueHash) },
        {
          ...closed,
          description:
            'of values that hold a secret: SHA-256 over stack, address, path and value, from which the digest is built',
        },
      ),
    ),
  },
  closed,
);

const patchOperation = Type.Object(
  {
    op: Type.Enum(['add', 'replace', 'remove']),
    path: Type.String(),
    value: Type.Optional(json('for add and replace')),
  },
  { ...closed, description: 'RFC 6902' },
);

const call = Type.Object(
  {
    id: text('unique in the plan'),
    target: Type.String(),
    method: Type.Enum(['POST', 'PATCH', 'PUT', 'DELETE']),
    path: text('below the API root, encoded; an address in braces is replaced by the id of that resource'),
    body: Type.Optional(
      json(
        'may hold { "$id": address } and { "$secret": { "env" or "file": name } }; { "$value": … } is a live object of that form',
      ),
    ),
    order: Type.Integer({ description: 'calls of one target run in rising order' }),
    needs: texts('calls that must have succeeded'),
    success: Type.Array(Type.Integer(), { description: 'statuses that mean success' }),
    already: Type.Optional(Type.Array(Type.Integer(), { description: 'statuses that mean already done' })),
    repeatable: Type.Boolean({ description: 'may be sent again after its response was lost' }),
    gives: Type.Optional(
      Type.Object(
        { address: Type.String(), pointer: Type.String() },
        { ...closed, description: 'where the response has the id of the created resource' },
      ),
    ),
    permission: Type.Optional(text('the permission that it needs, as the service names it')),
    says: Type.Optional(text('what the call does, if method and path do not show it')),
  },
  closed,
);

const guardId = { type: 'string', enum: [...guardIds] };

const guard = Type.Object(
  {
    id: Type.Unsafe<GuardId>(anyGuardId),
    effect: Type.Unsafe<Guard['effect']>({
      enum: ['denies', 'blocks', 'warns'],
      description: 'a guard that denies cannot be acknowledged',
    }),
    kind: Type.Optional(Type.String()),
    target: Type.Optional(Type.String()),
    counted: count,
    of: Type.Optional(count),
    limit: Type.Optional(Type.Number({ description: 'a number of resources, or of percent' })),
    message: Type.String(),
    concerns: Type.Array(Type.Object({ ...addressParts, says: texts('about this resource') }, closed)),
    ruleHash: Type.Optional(text('of a policy: a hash of its severity, match and rule')),
    settingHash: Type.Optional(
      text('of "loosened": a hash of the setting with its whole values before and after'),
    ),
  },
  { ...closed, description: 'one guard that fires: for one kind in one target, one target, or the plan' },
);

const risk = Type.Object(
  {
    path: text('JSON pointer below the spec; empty when it is the whole resource'),
    effect: Type.Enum(['widens', 'narrows', 'destroys', 'affects']),
    says: text('who gains or loses what'),
    guard: Type.Optional(Type.Unsafe<RiskGuard>({ ...guardId, description: 'the guard that it trips' })),
  },
  closed,
);

export const lastModifiedSchema = Type.Object(
  {
    touches: Type.Array(
      Type.Object(
        {
          at: text('RFC 3339'),
          actor: Type.Object(
            {
              id: text('empty if the trail has none'),
              name: text('empty if the trail has none'),
              kind: text('Client, Impersonated, System, or another word of the trail'),
              impersonatorId: Type.Optional(Type.String()),
            },
            closed,
          ),
          resource: Type.Object({ type: Type.String(), action: Type.String() }, closed),
          event: text("the event's id in the trail"),
          requestId: Type.Optional(Type.String()),
          maybeOurs: Type.Optional(
            Type.Literal(true, { description: 'during an apply whose request ids are not known' }),
          ),
        },
        closed,
      ),
      {
        description: 'events on the resource since the last apply, without those of this stack, newest first',
      },
    ),
    unknown: Type.Optional(text('why others may have modified it as well')),
  },
  {
    ...closed,
    description: 'who modified a drifted resource, from the audit trail, which has no fields',
  },
);

const change = Type.Object(
  {
    ...addressParts,
    action: Type.Enum(['create', 'update', 'delete', 'release', 'adopt', 'none']),
    reason: Type.String(),
    place: Type.Optional(placeSchema),
    id: Type.Optional(text('the id of the live resource')),
    createdBy: Type.Optional(
      text('of an adoption: the other stack that created the resource, by its creator mark'),
    ),
    fingerprint: Type.Optional(
      text('hash of the live content, for a removed resource without an id; it is approved with the change'),
    ),
    references: Type.Optional(
      Type.Record(
        Type.String(),
        text('the remote id; the address itself where this plan creates that resource'),
        {
          description:
            'other resources that it refers to, such as consumers of a state, by address; they are approved with the change',
        },
      ),
    ),
    fields: Type.Array(fieldSchema),
    patch: Type.Array(patchOperation, { description: 'the field changes as operations on the live spec' }),
    risks: Type.Optional(
      Type.Array(risk, {
        description: 'access that it widens or narrows, and what it schedules to be destroyed',
      }),
    ),
    notes: texts('information that needs no action'),
    calls: Type.Array(call),
    sharedCall: Type.Optional(text('a call of another change that carries this one out too')),
    relies: Type.Record(Type.String(), json('a fact')),
    touched: Type.Optional(lastModifiedSchema),
  },
  closed,
);

const targetCoverage = Type.Object(
  {
    target: Type.String(),
    unread: Type.Optional(Type.Literal(true, { description: 'it could not be read' })),
    skipped: Type.Optional(Type.Literal(true, { description: 'nothing of it is selected: it was not read' })),
    requests: count,
    read: Type.Array(Type.Object({ kind: Type.String(), count, total: Type.Optional(count) }, closed)),
    limits: texts('what the service lacks of its API'),
    incomplete: texts('why the read is incomplete'),
    invisible: texts('fields whose drift cannot be seen'),
    notes: texts('how it was read'),
    trail: Type.Optional(text('how the audit trail was read for drifted resources, or why it was not')),
  },
  closed,
);

export const coverageSchema = Type.Object(
  {
    complete: Type.Boolean({ description: 'when false, the plan may lack changes' }),
    files: count,
    documents: count,
    ledger: Type.Enum(['found', 'none']),
    ledgerNotes: texts('remarks about the ledger'),
    targets: Type.Array(targetCoverage),
  },
  closed,
);

export const targetsSchema = Type.Array(
  Type.Object(
    {
      name: Type.String(),
      service: Type.Enum(['workspaces', 'cluster-auth']),
      url: Type.String(),
      place: text('the organization, or the mount as one path with its namespace'),
      dialect: Type.String(),
    },
    closed,
  ),
);

export const planSchema = Type.Object(
  {
    version: Type.Literal(planVersion),
    stack: Type.String(),
    digest: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    digestVersion: Type.Optional(
      Type.Integer({ description: 'how the digest was made; 2 in plans of earlier versions, which lack it' }),
    ),
    made: Type.Optional(
      Type.Object(
        {
          at: text('RFC 3339'),
          commit: Type.Optional(text('the commit that was checked out')),
          dirty: Type.Optional(
            Type.Literal(true, { description: 'the work tree had changes that were not committed' }),
          ),
          pullRequestCommit: Type.Optional(
            text('the newest commit of the pull request, where a CI job checked it out, or a merge of it'),
          ),
          lastEnded: Type.Optional(
            Type.Union([Type.String(), Type.Null()], {
              description:
                'when an apply last ended the approval of the same plan, as the ledger had it; null when none had',
            }),
          ),
        },
        { ...closed, description: 'when the plan was made, and from which commit' },
      ),
    ),
    checksum: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description:
        'SHA-256 over all other members, keys sorted and without white space: an edited plan is refused',
    }),
    targets: targetsSchema,
    selection: Type.Optional(
      texts('the declared resources, if they are a part of the stack: the rest is left as it is'),
    ),
    part: Type.Optional(partSchema),
    summary: Type.Object(
      {
        create: count,
        adopt: count,
        update: count,
        release: count,
        delete: count,
        unchanged: count,
        mentions: count,
        problems: count,
        guards: count,
        blocking: count,
      },
      closed,
    ),
    guards: Type.Array(guard, { description: 'those that block come first; not part of the digest' }),
    acknowledge: texts('guards that --ack must name, together with --approve and this digest'),
    policies: Type.Optional(policiesSchema),
    changes: Type.Array(change, { description: 'in the order in which apply starts them' }),
    changedNames: Type.Optional(changedNamesSchema),
    mentions: Type.Array(
      Type.Object({ ...addressParts, message: Type.String(), fix: Type.Optional(Type.String()) }, closed),
    ),
    problems: Type.Array(diagnosticSchema, { description: 'problems that prevent applying' }),
    coverage: coverageSchema,
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, {
        description:
          'other diagnostics of the command, such as warnings about manifests; not part of the plan',
      }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/plan.schema.json', title: 'trueup plan' },
);

export type PlanJson = Static<typeof planSchema>;
export type DiagnosticJson = Static<typeof diagnosticSchema>;
