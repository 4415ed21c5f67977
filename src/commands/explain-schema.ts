/** The schema of `explain --format json`; `schemas/explanation.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, diagnosticSchema } from '../report/json/plan-schema.ts';

const place = Type.Object({ file: Type.String(), line: Type.Integer(), column: Type.Integer() }, closed);

const about = Type.Unsafe<'code' | 'guard' | 'finding' | 'kind' | 'field' | 'exit-code'>({
  type: 'string',
  enum: ['code', 'guard', 'finding', 'kind', 'field', 'exit-code'],
});

const term = {
  about,
  name: Type.String({ description: 'what "trueup explain" takes' }),
};

const field = {
  ...term,
  path: Type.String({ description: 'of a field: its path in the document, such as spec.executionMode' }),
  type: Type.String({ description: 'in words, without null' }),
  format: Type.Optional(Type.String({ description: 'how a text is written' })),
  values: Type.Array(Type.String(), {
    description: 'the allowed words, where they are too many for the type',
  }),
  required: Type.Boolean(),
  default: Type.String({ description: 'what holds when the field is left out' }),
  null: Type.Optional(Type.String({ description: 'what null does; missing where null is an error' })),
  description: Type.String(),
  examples: Type.Array(Type.Unknown()),
  deprecated: Type.Boolean(),
  createOnly: Type.Boolean({ description: 'used only when the resource is created' }),
  members: Type.Array(Type.String(), { description: 'the names of the fields directly below' }),
};

export const explanationSchema = Type.Object(
  {
    version: Type.Literal(1),
    terms: Type.Optional(
      Type.Array(Type.Object({ ...term, title: Type.String() }, closed), {
        description: 'without an argument: kinds, guards, codes and findings of doctor',
      }),
    ),
    term: Type.Optional(
      Type.Object(
        {
          ...Type.Partial(Type.Object(field)).properties,
          ...term,
          title: Type.Optional(Type.String()),
          severity: Type.Optional(Type.String({ description: 'of a code: error or warning' })),
          classes: Type.Optional(Type.Array(Type.String(), { description: 'of a code' })),
          exit: Type.Optional(
            Type.Integer({ description: 'of a code: its exit code, where it is not that of the class' }),
          ),
          group: Type.Optional(Type.String({ description: 'of a code: its part of the catalogue' })),
          when: Type.Optional(Type.String({ description: 'of a code or an exit code: when it occurs' })),
          fix: Type.Optional(Type.String({ description: 'of a code or an exit code: what to do' })),
          effect: Type.Optional(Type.String({ description: 'of a guard, by default: blocks or warns' })),
          trips: Type.Optional(Type.String({ description: 'of a guard: what trips it' })),
          more: Type.Optional(Type.Array(Type.String(), { description: 'of a guard: details' })),
          isFixed: Type.Optional(
            Type.Boolean({ description: 'of a guard: "spec.guards.allow" does not make it warn' }),
          ),
          check: Type.Optional(Type.String({ description: 'of a guard: what to check first' })),
          fields: Type.Optional(Type.Array(Type.Object(field, closed), { description: 'of a kind' })),
        },
        closed,
      ),
    ),
    resource: Type.Optional(
      Type.Object(
        {
          address: Type.String(),
          kind: Type.String(),
          target: Type.String(),
          name: Type.String(),
          values: Type.Array(
            Type.Object(
              {
                path: Type.String({ description: 'in its document: spec.vcsRepo.branch' }),
                value: Type.Unknown(),
                origin: Type.Unsafe<'document' | 'template' | 'list' | 'defaults'>({
                  type: 'string',
                  enum: ['document', 'template', 'list', 'defaults'],
                  description: 'where it is written; "list" also for a text that contains a value of a list',
                }),
                place: Type.Optional(place),
                list: Type.Optional(place),
              },
              closed,
            ),
          ),
          children: Type.Array(Type.String(), { description: 'addresses of its short forms' }),
        },
        { ...closed, description: 'with an address: where each value of the resource comes from' },
      ),
    ),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/explanation.schema.json', title: 'trueup explain' },
);
