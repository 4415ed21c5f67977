/** Posts a signed message as JSON. With the shared secret the receiver verifies who sent it; no redirect is followed. */
import { createHmac } from 'node:crypto';
import { WireError } from '../model/http.ts';
import { openDispatcher } from './transport/dispatcher.ts';
import { exchange, type Observer } from './transport/exchange.ts';
import { explainFailure } from './transport/explain-failure.ts';
import type { Environment } from './transport/proxy.ts';

interface WebhookMessage {
  /** stays the same when it is sent again */
  readonly id: string;
  readonly event: string;
  /** JSON */
  readonly body: string;
}

interface WebhookOptions {
  readonly url: string;
  readonly secret: string;
  readonly userAgent: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly observer?: Observer | undefined;
}

/** Time limits in seconds. */
const limits = { connect: 10, headers: 20, body: 20, answer: 30 };

/** The maximal size of an answer in bytes; its content is not used. */
const maxAnswer = 1024 * 1024;

/** @throws WireError when the message was not accepted */
export async function postWebhook(
  { id, event, body }: WebhookMessage,
  { url: address, secret, userAgent, env, signal, observer }: WebhookOptions,
): Promise<void> {
  const url = new URL(address);
  const opened = openDispatcher({ url, connections: 1, connectTimeout: limits.connect * 1000, env });
  // The path of a webhook is often a secret.
  const about = { method: 'POST', url: url.origin };
  try {
    const answer = await exchange(
      opened.dispatcher,
      {
        origin: url.origin,
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: {
          'content-type': 'application/json',
          'user-agent': userAgent,
          'x-trueup-event': event,
          'x-trueup-id': id,
          'x-trueup-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
        body,
        headersTimeout: limits.headers * 1000,
        bodyTimeout: limits.body * 1000,
      },
      { signal, observer, bounds: { bytes: maxAnswer, milliseconds: limits.answer * 1000 } },
    );
    if (answer.kind === 'broken') {
      const context = { host: url.host, seconds: limits, address: 'the address of the webhook' };
      const { message } = explainFailure(answer.cause, context);
      throw new WireError(`POST ${about.url} failed: ${message}`, { ...about, sent: answer.sent });
    }
    if (answer.status < 200 || answer.status > 299)
      throw new WireError(`POST ${about.url} answered ${answer.status}`, { ...about, sent: true });
  } finally {
    await opened.dispatcher.destroy();
  }
}
