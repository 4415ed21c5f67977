/** What a reviewer must see first: guards and how to acknowledge them, what is deleted, and who gains or loses access. */
import { blockingIds, type Guard } from '../../model/plan/guard.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Risk } from '../../model/plan/risk.ts';
import { formatAddress } from '../../model/resource/address.ts';
import { acknowledgement } from '../terminal/guard-text.ts';
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

/** What guards say of single resources, but for the access that is told already. */
function concernLines({ guards, changes }: Plan): string[] {
  const told = new Set(changes.flatMap(({ risks = [] }) => risks.map(({ message }) => message)));
  return guards.flatMap(({ id, concerns }) =>
    concerns.flatMap(({ address, messages }) => {
      const news = messages.filter((message) => !told.has(message));
      if (news.length === 0) return [];
      const said = news.slice(0, 5).map((message) => sentence(message, 300));
      return [`- ${code(id)} ${code(formatAddress(address))}: ${said.join('; ')}`];
    }),
  );
}

const maxCommand = 1_000;

/** The command for this very plan. With problems there is none: they have to be solved first. */
function acknowledgeLines(plan: Plan, stack: string | undefined): string[] {
  if (blockingIds(plan.guards).length === 0) return [];
  if (plan.problems.some(({ severity }) => severity === 'error')) return [];
  return [`- to let them pass: ${code(acknowledgement(plan, stack) ?? '', maxCommand)}`];
}

/** With the first notes: what else goes with it stands there. */
function reasonLine({ address, reason, id, notes }: Change): string {
  const which = id === undefined ? '' : ` (${code(id)})`;
  const said = [reason, ...notes.slice(0, 3)].map((text) => sentence(text, 300));
  return `- ${code(formatAddress(address))}${which}: ${said.join('; ')}`;
}

function riskLines(effect: Risk['effect']): (change: Change) => string[] {
  return ({ address, risks = [] }) =>
    risks
      .filter((risk) => risk.effect === effect)
      .map(({ message }) => `- ${code(formatAddress(address))}: ${sentence(message)}`);
}
