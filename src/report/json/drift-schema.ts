/** The schema of `drift --format json`; `schemas/drift.schema.json` is generated from it. Members may be added. */
import { type Static, Type } from 'typebox';
import {
  addressParts,
  closed,
  count,
  coverageSchema,
  diagnosticSchema,
  fieldSchema,
  placeSchema,
  targetsSchema,
  lastModifiedSchema,
} from './plan-schema.ts';
import { partSchema } from './policies-schema.ts';

const texts = (description: string) => Type.Array(Type.String(), { description });

const { origin: _, unknown: __, ...fieldParts } = fieldSchema.properties;

const movedField = Type.Object(
  {
    ...fieldParts,
    both: Type.Optional(
      Type.Literal(true, { description: 'manifest and live value both differ from the ledger' }),
    ),
  },
  closed,
);

const drifted = Type.Object(
  {
    ...addressParts,
    is: Type.Enum(['changed', 'gone', 'recreated'], {
      type: 'string',
      description: 'recreated: another resource has its name now',
    }),
    id: Type.Optional(Type.String({ description: 'the id that was applied' })),
    newId: Type.Optional(Type.String({ description: 'the id of the resource that has its name now' })),
    fields: Type.Array(movedField, { description: 'before: as last applied; after: live' }),
    notes: texts('differences that no field shows'),
    declaredAs: Type.Optional(Type.String({ description: 'its address in the manifests, if that differs' })),
    touched: Type.Optional(lastModifiedSchema),
  },
  closed,
);

const changedName = Type.Object(
  {
    ...addressParts,
    field: Type.String({ description: 'the field of the id, such as projectId' }),
    given: Type.String({ description: 'the name, as the manifest has it' }),
    id: Type.String({ description: 'the remote id that the name has now' }),
    recorded: texts('the ids that the ledger has under this name'),
    message: Type.String(),
    fix: Type.String(),
    place: Type.Optional(placeSchema),
  },
  closed,
);

const pending = Type.Object(
  {
    ...addressParts,
    is: Type.Enum(['new', 'changed', 'dropped', 'removed'], {
      type: 'string',
      description:
        'new: never applied; dropped: no longer declared; removed: a document asks for its removal',
    }),
    fields: Type.Array(movedField, { description: 'before: as last applied; after: as declared' }),
    place: Type.Optional(placeSchema),
  },
  closed,
);

const unmanaged = Type.Object(
  {
    resources: Type.Array(
      Type.Object(
        {
          ...addressParts,
          id: Type.Optional(Type.String()),
          fields: Type.Array(movedField, { description: 'before: as the last apply saw it; after: live' }),
          touched: Type.Optional(lastModifiedSchema),
        },
        closed,
      ),
    ),
    unseen: Type.Integer({
      minimum: 0,
      description: 'resources whose record has no values of such fields yet: the next apply records them',
    }),
  },
  {
    ...closed,
    description:
      'with --unmanaged: fields that no manifest mentions; where there are any, the exit code is 3',
  },
);

const mention = Type.Object(
  { ...addressParts, message: Type.String(), fix: Type.Optional(Type.String()) },
  closed,
);

const access = Type.Object(
  {
    ...addressParts,
    login: Type.Optional(
      Type.Object(
        {
          accounts: texts('names of service accounts that may log in; "*" matches any characters'),
          namespaces: texts('their namespaces; "*" matches any characters'),
          selector: Type.Optional(
            Type.String({ description: 'a label selector, which admits further namespaces' }),
          ),
          audience: Type.Optional(
            Type.String({
              description: 'the audience that a JWT must be issued for; any audience if absent',
            }),
          ),
          policies: texts('the policies of the tokens'),
        },
        closed,
      ),
    ),
    state: Type.Optional(
      Type.Object(
        {
          readers: texts('names of workspaces that may read the state'),
          sharedWith: Type.Optional(
            Type.Enum(['organization', 'project'], {
              type: 'string',
              description: 'all workspaces of it may read the state',
            }),
          ),
        },
        closed,
      ),
    ),
  },
  {
    ...closed,
    description: 'a role with which accounts may log in, or a workspace whose state others may read',
  },
);

export const driftSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    complete: Type.Boolean({
      description: 'when false, more may have drifted than was found, and the exit code is 1',
    }),
    targets: targetsSchema,
    selection: Type.Optional(texts('the declared resources, where they are a part of the stack')),
    part: Type.Optional(partSchema),
    summary: Type.Object(
      {
        ...{ drifted: count, changedNames: count, pending: count },
        ...{ unchanged: count, unrecorded: count, untold: count },
      },
      closed,
    ),
    drifted: Type.Array(drifted, {
      description: 'live differs from what was last applied: the exit code is 3',
    }),
    unmanaged: Type.Optional(unmanaged),
    changedNames: Type.Array(changedName, {
      description:
        'names in the manifests that refer to other objects than at the last apply, because names were changed in the service: the exit code is 3',
    }),
    pending: Type.Array(pending, { description: 'the manifests differ from what was last applied' }),
    unrecorded: Type.Array(mention, { description: 'live, but not in the ledger' }),
    untold: Type.Array(mention, { description: 'in the ledger, but could not be read' }),
    access: Type.Optional(
      Type.Array(access, { description: 'the access that the live resources of the stack give' }),
    ),
    problems: Type.Array(diagnosticSchema, { description: 'why a target could not be read' }),
    coverage: coverageSchema,
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/drift.schema.json', title: 'trueup drift' },
);

export type DriftJson = Static<typeof driftSchema>;
