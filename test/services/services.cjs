// Real servers: for the tests here and, as CommonJS, for the suites of both runners inside of them.
const { execFileSync } = require('node:child_process')
const { existsSync, mkdirSync, writeFileSync } = require('node:fs')
const { connect } = require('node:net')
const { join } = require('node:path')

const isRoot = process.getuid() === 0
/** Where instances have their directories, and PostgreSQL its cluster; see prepare-services.ts. */
const home = process.env.SERVICES_HOME
/** PostgreSQL refuses root. */
const unprivileged = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
const postgres = (program) => join(process.env.SERVICES_POSTGRES, program)

const nginxConfiguration = (port) => `
pid nginx.pid;
worker_processes 2;
events {}
http {
  access_log off;
  client_body_temp_path temporary;
  fastcgi_temp_path temporary;
  proxy_temp_path temporary;
  scgi_temp_path temporary;
  uwsgi_temp_path temporary;
  server { listen 127.0.0.1:${port}; return 200 'here'; }
}`

/** An instance's directory and port in, the command out; what it needs is there then. */
const services = {
  redis: {
    pidFile: 'redis.pid',
    stopSignal: 'SIGTERM',
    question: 'PING\r\n',
    answer: '+PONG',
    /** Of the daemon, with itself. */
    processes: 1,
    command(directory, port, { isDaemon }) {
      mkdirSync(directory, { recursive: true })
      const options = { port, bind: '127.0.0.1', dir: directory, pidfile: join(directory, 'redis.pid'), save: '' }
      const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
      return ['redis-server', ...words, '--daemonize', isDaemon ? 'yes' : 'no']
    },
  },
  nginx: {
    pidFile: 'nginx.pid',
    stopSignal: 'SIGTERM',
    question: 'GET / HTTP/1.0\r\n\r\n',
    answer: 'HTTP/1.1 200',
    processes: 3,
    command(directory, port, { isDaemon }) {
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, 'nginx.conf'), nginxConfiguration(port))
      return ['nginx', '-p', directory, '-c', 'nginx.conf', '-e', 'error.log', ...(isDaemon ? [] : ['-g', 'daemon off;'])]
    },
  },
  postgres: {
    pidFile: 'postmaster.pid',
    readyLine: 'ready to accept connections',
    stopSignal: 'SIGINT',
    // Asks for TLS, which it has not.
    question: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]),
    answer: 'N',
    processes: 6,
    command(directory, port, { isDaemon }) {
      if (!existsSync(directory)) execFileSync('cp', ['-a', join(home, 'cluster'), directory])
      const options = ['-p', String(port), '-h', '127.0.0.1', '-k', '""', '-F']
      if (!isDaemon)
        return [...unprivileged, postgres('postgres'), '-D', directory, ...options.map((word) => word.replace('""', ''))]
      return [
        ...unprivileged,
        postgres('pg_ctl'),
        '-D',
        directory,
        '-l',
        join(directory, 'log'),
        '-o',
        options.join(' '),
        'start',
      ]
    },
  },
}

/** The words by which a client of PostgreSQL begins a session, and has a statement done in it. */
function sessionOf(statement) {
  const parameters = Buffer.from('user\0postgres\0database\0postgres\0\0')
  const query = Buffer.from(`${statement}\0`)
  const start = Buffer.alloc(8)
  start.writeInt32BE(start.length + parameters.length)
  start.writeInt32BE(3 << 16, 4)
  const size = Buffer.alloc(4)
  size.writeInt32BE(size.length + query.length)
  return Buffer.concat([start, parameters, Buffer.from('Q'), size, query])
}

/** Says something to a server, and resolves with the beginning of its answer; the connection stays until it is destroyed. */
function say(port, words) {
  const socket = connect(port, '127.0.0.1', () => socket.write(words))
  return new Promise((resolve, reject) => {
    socket.once('data', (data) => resolve({ answer: data.toString('latin1'), socket }))
    // A server that ends hangs up later too.
    socket.on('error', reject)
    socket.once('close', () => reject(new Error(`Port ${port} has hung up.`)))
  })
}

module.exports = { home, say, services, sessionOf }
