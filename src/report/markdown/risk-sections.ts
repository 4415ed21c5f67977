/** What a reviewer must see first: guards and how to acknowledge them, what is deleted now or destroyed later, and who gains or loses access. */
import { counted } from '../../model/counted.ts';
import type { Guard } from '../../model/plan/guard.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { hiddenConcerns, usableAcknowledgement } from '../format/plan-risks.ts';
import { code, sentence } from './escape.ts';
import type { Section } from './fit.ts';

/** In the order of the report; those without blocks are left out by `fitted`. */
export function riskSections(plan: Plan, stack: string | undefined): Section[] {
  const { guards, changes } = plan;
  const taken = (action: Change['action']) => changes.filter((change) => change.action === action);
  return [
    list('Guards', [...acknowledgeLines(plan, stack), ...guards.map(guardLine)], 'guards'),
    list('Deletes', taken('delete').map(reasonLine), 'deletes'),
    list('Releases', taken('release').map(reasonLine), 'releases'),
    list('Scheduled destroys', changes.flatMap(riskLines('destroys')), 'of them'),
    list('Access gained', changes.flatMap(riskLines('widens')), 'of them'),
    list('Access lost', changes.flatMap(riskLines('narrows')), 'of them'),
    list('What else trips a guard', concernLines(plan), 'of them'),
  ];
}

function list(title: string, blocks: readonly string[], what: string): Section {
  return {
    heading: `#### ${title}`,
    blocks,
    between: '\n',
    left: (count) => `**and ${count} more ${what}**, which the text of the plan names`,
  };
}

function guardLine({ id, effect, message }: Guard): string {
  const does = effect === 'blocks' ? '**blocks**' : 'warns';
  return `- ${does} ${code(id)}: ${sentence(message)}`;
}

const maxMessages = 5;

function concernLines(plan: Plan): string[] {
  return hiddenConcerns(plan).map(({ id, address, messages }) => {
    const left = messages.length - maxMessages;
    const said = [
      ...messages.slice(0, maxMessages).map((message) => sentence(message, 300)),
      ...(left > 0 ? [`and ${left} more`] : []),
    ];
    return `- ${code(id)} ${code(formatAddress(address))}: ${said.join('; ')}`;
  });
}

const maxCommand = 1_000;

function acknowledgeLines(plan: Plan, stack: string | undefined): string[] {
  const command = usableAcknowledgement(plan, stack);
  return command === undefined ? [] : [`- to let them pass: ${code(command, maxCommand)}`];
}

const maxNotes = 3;

/** With the first notes: what else goes with it stands there. */
function reasonLine({ address, reason, id, notes }: Change): string {
  const which = id === undefined ? '' : ` (${code(id)})`;
  const left = notes.length - maxNotes;
  const said = [
    ...[reason, ...notes.slice(0, maxNotes)].map((text) => sentence(text, 300)),
    ...(left > 0 ? [`and ${counted(left, 'more note')}`] : []),
  ];
  return `- ${code(formatAddress(address))}${which}: ${said.join('; ')}`;
}

function riskLines(effect: Risk['effect']): (change: Change) => string[] {
  return ({ address, risks = [] }) =>
    risks
      .filter((risk) => risk.effect === effect)
      .map(({ message }) => `- ${code(formatAddress(address))}: ${sentence(message)}`);
}
