/** The lines of `apply --format jsonl`: each event is written at once, so that whoever reads along sees how it goes. */
import { type EventMembers, renderEventJson } from '../../report/json/apply-events.ts';
import type { CliHost } from '../cli-host.ts';

export interface EventStream {
  write(event: EventMembers): void;
}

/** The first line is written with the first event. */
export function openEventStream({ stdout, now, version }: CliHost): EventStream {
  let seq = 0;
  const line = (event: EventMembers) => {
    stdout.write(`${renderEventJson(event, { seq, time: now() })}\n`);
    seq += 1;
  };
  return {
    write: (event) => {
      if (seq === 0) line({ type: 'started', trueup: version });
      line(event);
    },
  };
}
