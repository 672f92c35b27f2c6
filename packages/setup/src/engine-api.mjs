import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { messageOf, SetupError } from './errors.mjs';

// The oldest API that every engine since 19.03 speaks; newer engines may refuse older ones.
const API = '/v1.40';
const ANSWER_MS = 30_000;

/**
 * @typedef {object} EngineAddress
 * @property {string} [socketPath]
 * @property {string} [host]
 * @property {number} [port]
 * @property {boolean} tls
 */

/**
 * @param {string} dockerHost as in DOCKER_HOST
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {EngineAddress}
 * @throws {SetupError} SETUP_ENGINE_ADDRESS_INVALID
 */
export function parseDockerHost(dockerHost, env = process.env) {
  const unix = /^unix:\/\/(\/.+)$/.exec(dockerHost);
  if (unix?.[1] !== undefined) return { socketPath: unix[1], tls: false };
  const tcp = /^(tcp|http|https):\/\/(\[[0-9a-fA-F:.]+\]|[^/:@]+)(?::(\d{1,5}))?\/?$/.exec(
    dockerHost,
  );
  if (tcp?.[2] !== undefined) {
    const tls = tcp[1] === 'https' || Boolean(env['DOCKER_TLS_VERIFY']);
    return {
      host: tcp[2].replace(/^\[|\]$/g, ''),
      port: Number(tcp[3] ?? (tls ? 2376 : 2375)),
      tls,
    };
  }
  throw new SetupError('SETUP_ENGINE_ADDRESS_INVALID', {
    message: `expected DOCKER_HOST to be unix:///PATH or tcp://HOST:PORT, got ${dockerHost}`,
    fix: dockerHost.startsWith('ssh:')
      ? 'forward the remote socket (ssh -L /tmp/docker.sock:/var/run/docker.sock HOST) and name it: DOCKER_HOST=unix:///tmp/docker.sock'
      : 'correct DOCKER_HOST, or unset it to use the default socket',
  });
}

/**
 * @typedef {object} RequestOptions
 * @property {string} [method]
 * @property {AsyncIterable<Uint8Array> | object} [body] a stream of bytes, or a value to send as JSON
 * @property {number} [answerMs] until the head of the answer; the body may take longer
 * @property {AbortSignal | undefined} [signal]
 */

/** The few requests that set-up makes of a Docker engine, straight over its HTTP API: no client program is needed. */
export class Engine {
  /**
   * @param {string} dockerHost
   * @param {NodeJS.ProcessEnv} [env]
   */
  constructor(dockerHost, env = process.env) {
    this.dockerHost = dockerHost;
    /** @type {EngineAddress} */
    this.address = parseDockerHost(dockerHost, env);
    this.tlsFolder = this.address.tls ? env['DOCKER_CERT_PATH'] : undefined;
  }

  /**
   * @param {number} answerMs
   * @returns {Promise<string | null>} why it does not answer, or null when it does
   */
  async silence(answerMs) {
    try {
      const { status } = await this.readText('/_ping', { answerMs });
      return status === 200 ? null : `HTTP status ${status}`;
    } catch (error) {
      return messageOf(error);
    }
  }

  /**
   * @param {string} path
   * @param {RequestOptions} [options]
   * @returns {Promise<any>} the engine's JSON, not checked further: the engine is root here and trusted
   * @throws {SetupError} SETUP_ENGINE_REFUSED
   */
  async readJson(path, options = {}) {
    return this.#guard(path, options, async () => {
      const { status, text } = await this.readText(path, options);
      if (status >= 400) throw new Error(`HTTP ${status}: ${reasonIn(text)}`);
      return text === '' ? null : JSON.parse(text);
    });
  }

  /**
   * Like readJson, for what may be absent.
   * @param {string} path
   * @returns {Promise<any>} null when there is no such thing
   * @throws {SetupError} SETUP_ENGINE_REFUSED
   */
  async findJson(path) {
    return this.#guard(path, {}, async () => {
      const { status, text } = await this.readText(path);
      if (status === 404) return null;
      if (status >= 400) throw new Error(`HTTP ${status}: ${reasonIn(text)}`);
      return JSON.parse(text);
    });
  }

  /**
   * Requests that answer with a stream of JSON lines (pull, load), where a failure comes late and inside the stream.
   * @param {string} path
   * @param {RequestOptions & { onLine: (line: any) => void }} options
   * @throws {SetupError} SETUP_ENGINE_REFUSED
   */
  async readLines(path, { onLine, ...rest }) {
    const options = { method: 'POST', ...rest };
    await this.#guard(path, options, async () => {
      const answer = await this.request(path, options);
      const status = answer.statusCode ?? 0;
      if (status >= 400) throw new Error(`HTTP ${status}: ${reasonIn(await textOf(answer))}`);
      for await (const text of linesOf(answer)) {
        const line = JSON.parse(text);
        if (line.error) throw new Error(reasonIn(String(line.error)));
        onLine(line);
      }
    });
  }

  /**
   * @param {string} path
   * @param {RequestOptions} [options]
   * @returns {Promise<http.IncomingMessage>} the bytes of the answer's body
   * @throws {SetupError} SETUP_ENGINE_REFUSED
   */
  async readBody(path, options = {}) {
    return this.#guard(path, options, async () => {
      const answer = await this.request(path, options);
      const status = answer.statusCode ?? 0;
      if (status >= 400) throw new Error(`HTTP ${status}: ${reasonIn(await textOf(answer))}`);
      return answer;
    });
  }

  /**
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  async readText(path, options = {}) {
    const answer = await this.request(path, options);
    return { status: answer.statusCode ?? 0, text: await textOf(answer) };
  }

  /**
   * @template T
   * @param {string} path
   * @param {RequestOptions} options
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #guard(path, { method = 'GET', signal }, work) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw new SetupError('SETUP_ENGINE_REFUSED', {
        message: `the engine at ${this.dockerHost} failed at ${method} ${path.replace(/\?.*/, '')}: ${messageOf(error)}`,
        fix: 'see the engine’s log; `npx kervyxa doctor` lists what is wrong with it',
        cause: error,
      });
    }
  }

  /**
   * @param {string} path
   * @param {RequestOptions} options
   * @returns {Promise<http.IncomingMessage>}
   */
  request(path, { method = 'GET', body, answerMs = ANSWER_MS, signal }) {
    const streamed = body !== undefined && Symbol.asyncIterator in body;
    const { socketPath, host, port, tls } = this.address;
    return new Promise((resolve, reject) => {
      const request = (tls ? https : http).request({
        ...(socketPath === undefined ? { host, port } : { socketPath }),
        ...(this.tlsFolder === undefined ? {} : readCertificates(this.tlsFolder)),
        method,
        path: path === '/_ping' ? path : `${API}${path}`,
        headers:
          body === undefined
            ? {}
            : { 'content-type': streamed ? 'application/x-tar' : 'application/json' },
        agent: false,
        ...(signal && { signal }),
      });
      const timer = setTimeout(() => {
        request.destroy(new Error(`no answer within ${answerMs / 1_000} s`));
      }, answerMs);
      request.on('response', resolve);
      request.on('error', (error) => reject(signal?.aborted ? signal.reason : error));
      request.on('close', () => clearTimeout(timer));
      request.on('response', () => clearTimeout(timer));
      send(request, body, streamed).catch((error) => request.destroy(error));
    });
  }
}

/**
 * @param {http.ClientRequest} request
 * @param {any} body
 * @param {boolean} streamed
 */
async function send(request, body, streamed) {
  if (streamed) {
    for await (const chunk of body) {
      if (!request.write(chunk)) await drained(request);
    }
    request.end();
  } else {
    request.end(body === undefined ? undefined : JSON.stringify(body));
  }
}

/** @param {http.ClientRequest} request */
function drained(request) {
  return new Promise((resolve, reject) => {
    const onDrain = () => {
      request.off('close', onClose);
      resolve(undefined);
    };
    const onClose = () => {
      request.off('drain', onDrain);
      reject(new Error('the engine closed the connection'));
    };
    request.once('drain', onDrain);
    request.once('close', onClose);
  });
}

/** @param {string} folder as in DOCKER_CERT_PATH */
function readCertificates(folder) {
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) =>
    readFileSync(join(folder, name)),
  );
  return { ca, cert, key };
}

/** @param {http.IncomingMessage} answer */
async function textOf(answer) {
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece;
  return text;
}

/**
 * @param {http.IncomingMessage} answer
 * @returns {AsyncGenerator<string>} its lines that are not empty
 */
async function* linesOf(answer) {
  let rest = '';
  for await (const piece of answer.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}

/**
 * @param {string} text the engine's `{"message": …}`, or whatever stands in its place
 * @returns {string} one printable line
 */
function reasonIn(text) {
  const message = /^\s*\{"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const reason = message === undefined ? text : String(JSON.parse(`"${message}"`));
  return reason
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 500);
}
