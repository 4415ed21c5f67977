/** The schema of `audit list --format json`; `schemas/audit.schema.json` is generated from it. Members may be added. */
import { Type } from 'typebox';
import { closed, diagnosticSchema } from '../../report/json/plan-schema.ts';

const moment = (description: string) => Type.String({ format: 'date-time', description });
const maybeText = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], description }));

const event = Type.Object(
  {
    id: Type.String(),
    version: Type.Unsafe<string | number>({
      type: ['string', 'number'],
      description: 'version of the format of the event',
    }),
    type: maybeText('an event without it has the type "Resource"'),
    timestamp: moment('when it happened'),
    auth: Type.Object(
      {
        accessor_id: maybeText('id of the actor'),
        description: maybeText('name of the actor'),
        type: Type.String({
          description: '"Client", "Impersonated", "System", or another word of the service',
        }),
        impersonator_id: maybeText('who acted in the name of the actor'),
        organization_id: Type.String(),
      },
      { description: 'who did it' },
    ),
    resource: Type.Object(
      { id: Type.String(), type: Type.String(), action: Type.String() },
      { description: 'what was done to what' },
    ),
  },
  { description: 'as the service answered it, with all that it says' },
);

export const eventsSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String(),
    events: Type.Array(
      Type.Object(
        {
          target: Type.String({ description: 'the target whose organization has the event in its trail' }),
          event,
        },
        { ...closed, description: 'also a line of "--format jsonl"' },
      ),
      { description: 'newest first' },
    ),
    more: Type.Boolean({ description: 'whether there are older ones, which --limit left out' }),
    gaps: Type.Array(
      Type.Object(
        {
          target: Type.String(),
          from: moment('events after this time may be missing'),
          to: moment('up to this time'),
          why: Type.String(),
        },
        closed,
      ),
      {
        description: 'gaps of the archive in the requested time; empty if the service itself was read',
      },
    ),
    diagnostics: Type.Optional(
      Type.Array(diagnosticSchema, { description: 'other diagnostics of the command' }),
    ),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/audit.schema.json', title: 'trueup audit list' },
);
