import Foundation

/// The configuration of PostgreSQL under Patroni, as the drills use it: word for word the files of `Deploy/ha`, which a test compares.
enum HighAvailabilityFiles {
    /// What is filled in, by the word between two @.
    struct Values: Sendable {
        var servers: [String]
        /// The addresses of servers and clients, for `pg_hba.conf`.
        var network: String
        /// The password of every role.
        var password: String

        /// A text with all words filled in; `server`, counted from 0, is the one that it is for.
        func fill(_ text: String, server: Int = 0) -> String {
            var words = [("@NAME@", "db\(server + 1)"), ("@ADDRESS@", servers[server]), ("@NETWORK@", network)]
            words += servers.enumerated().map { ("@DB\($0 + 1)@", $1) }
            words += ["PUSHMTA", "SUPERUSER", "REPLICATION", "REWIND"].map { ("@\($0)_PASSWORD@", password) }
            return words.reduce(text) { $0.replacing($1.0, with: $1.1) }
        }
    }

    /// `Deploy/ha/patroni.yml`.
    static let patroni = """
        # /etc/patroni/config.yml of one of three database servers: PostgreSQL 15 under Patroni 3 of Debian 12.
        #
        # Words between two @ are filled in; Deploy/guide/high-availability.md says how. The same on all three but for @NAME@ and @ADDRESS@.
        # The file holds passwords: owner postgres, mode 0600.

        scope: pushmta
        name: @NAME@

        restapi:
          # HAProxy asks here who is the primary.
          listen: "@ADDRESS@:8008"
          connect_address: "@ADDRESS@:8008"

        # Not etcd3: with it Patroni 3.0.2 puts a former primary's name over that of the new one when it reaches etcd again, and the former primary may
        # be promoted without what was acknowledged since. Over etcd's second interface it compares first.
        etcd:
          hosts: "@DB1@:2379,@DB2@:2379,@DB3@:2379"

        bootstrap:
          # Goes into etcd when the first of the three starts; `patronictl edit-config` changes it later.
          dcs:
            # Seconds after which a primary that is not heard of loses its place, and with loop_wait about the time that deliveries stand
            # still. It has to be at least loop_wait + 2 × retry_timeout.
            ttl: 20
            loop_wait: 5
            retry_timeout: 5
            # Seconds that a primary whose PostgreSQL died has to come up again before another one takes its place; 0: at once.
            primary_start_timeout: 0
            # What PushMTA was told is committed is on two servers, always: without a replica commits wait, and deliveries with them. So no
            # fail-over loses an outcome, nor does a primary that is cut off while it does not know yet. For two servers leave the strict
            # out: then the one that is left goes on alone.
            synchronous_mode: true
            synchronous_mode_strict: true
            # An etcd that is away takes no primary away as long as that one reaches all the others.
            failsafe_mode: true
            postgresql:
              use_pg_rewind: true
              use_slots: true
              parameters:
                # A commit waits until the replica has it on disk.
                synchronous_commit: "on"
                fsync: "on"
                full_page_writes: "on"
                # For pg_rewind, with which a former primary becomes a replica.
                wal_log_hints: "on"
                # A replica that is cut off is noticed after 10 s, and another one is waited for. The default is a minute, in which no commit ends.
                wal_sender_timeout: 10s
                wal_receiver_timeout: 10s
                # Each child of PushMTA has 2 connections, a supervisor 4, a web process up to 10.
                max_connections: 200
          initdb:
          - encoding: UTF8
          - locale: C.UTF-8
          - data-checksums
          pg_hba:
          - local all all peer
          - host replication replicator @NETWORK@ scram-sha-256
          - host all all @NETWORK@ scram-sha-256
          users:
            # CREATEROLE is for the roles of the schema, which the first `pushmta migrate` makes; take it back afterwards.
            pushmta:
              password: "@PUSHMTA_PASSWORD@"
              options:
              - createrole
              - createdb

        postgresql:
          listen: "@ADDRESS@:5432"
          connect_address: "@ADDRESS@:5432"
          data_dir: /var/lib/postgresql/15/pushmta
          bin_dir: /usr/lib/postgresql/15/bin
          pgpass: /var/lib/postgresql/pushmta.pgpass
          # What a former primary has and nobody else is thrown away: it was never acknowledged.
          remove_data_directory_on_rewind_failure: true
          remove_data_directory_on_diverged_timelines: true
          authentication:
            superuser:
              username: postgres
              password: "@SUPERUSER_PASSWORD@"
            replication:
              username: replicator
              password: "@REPLICATION_PASSWORD@"
            rewind:
              username: rewind
              password: "@REWIND_PASSWORD@"
          parameters:
            unix_socket_directories: /var/run/postgresql
            password_encryption: scram-sha-256

        """

    /// `Deploy/ha/etcd.env`.
    static let etcd = """
        # /etc/default/etcd of one of three database servers: etcd 3.4 of Debian 12, in which Patroni keeps who is the primary.
        #
        # Words between two @ are filled in; Deploy/guide/high-availability.md says how. The same on all three but for @NAME@ and @ADDRESS@.

        ETCD_NAME=@NAME@
        ETCD_DATA_DIR=/var/lib/etcd/pushmta
        ETCD_LISTEN_PEER_URLS=http://@ADDRESS@:2380
        ETCD_LISTEN_CLIENT_URLS=http://@ADDRESS@:2379,http://127.0.0.1:2379
        ETCD_INITIAL_ADVERTISE_PEER_URLS=http://@ADDRESS@:2380
        ETCD_ADVERTISE_CLIENT_URLS=http://@ADDRESS@:2379
        ETCD_INITIAL_CLUSTER=db1=http://@DB1@:2380,db2=http://@DB2@:2380,db3=http://@DB3@:2380
        ETCD_INITIAL_CLUSTER_STATE=new
        ETCD_INITIAL_CLUSTER_TOKEN=pushmta
        # Patroni uses etcd's second interface: see the section etcd of patroni.yml.
        ETCD_ENABLE_V2=true
        # Milliseconds. Five times the defaults: a disk that is busy for a moment must not cost a leader, and Patroni's ttl is 20 s.
        ETCD_HEARTBEAT_INTERVAL=500
        ETCD_ELECTION_TIMEOUT=5000

        """

    /// `Deploy/ha/haproxy.cfg`.
    static let haproxy = """
        # /etc/haproxy/haproxy.cfg of a host of PushMTA: leads connections to 127.0.0.1:5000 to the server that Patroni says is the primary.
        #
        # Words between two @ are filled in; Deploy/guide/high-availability.md says how. For clients that take one address only: PushMTA
        # itself needs no HAProxy.

        global
            maxconn 1000

        defaults
            mode tcp
            timeout connect 3s
            timeout check 2s
            # A connection that waits for news may be silent for long; TCP finds out who is gone.
            timeout client 24h
            timeout server 24h
            option clitcpka
            option srvtcpka
            srvtcpka-idle 5s
            srvtcpka-intvl 3s
            srvtcpka-cnt 3

        listen primary
            bind 127.0.0.1:5000
            # Patroni answers 200 on the primary with the lock, and 503 on the others.
            option httpchk
            http-check send meth OPTIONS uri /primary
            http-check expect status 200
            # A server that is the primary no more loses its connections at once: whoever has one connects again, and finds the new one.
            default-server inter 2s fastinter 1s fall 2 rise 1 on-marked-down shutdown-sessions
            server db1 @DB1@:5432 check port 8008
            server db2 @DB2@:5432 check port 8008
            server db3 @DB3@:5432 check port 8008

        """

    /// `Deploy/ha/pgbouncer.ini`.
    static let pgbouncer = """
        ; /etc/pgbouncer/pgbouncer.ini of a host of PushMTA, where there has to be a pooler: in front of HAProxy, session mode.
        ;
        ; /etc/pgbouncer/userlist.txt has the line "pushmta" "@PUSHMTA_PASSWORD@"

        [databases]
        pushmta = host=127.0.0.1 port=5000 dbname=pushmta

        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = 6432
        unix_socket_dir =
        auth_type = scram-sha-256
        auth_file = /etc/pgbouncer/userlist.txt
        ; A session of the server for each client: the engine keeps settings, prepared statements and LISTEN in it.
        pool_mode = session
        ; At least as many as PushMTA on this host has connections.
        default_pool_size = 100
        max_client_conn = 200
        ; A client that cannot be given a server is told so, and tries again, instead of waiting in silence.
        query_wait_timeout = 10
        server_connect_timeout = 5
        server_login_retry = 1
        ; A server that does not answer any more is left as early as by a client of its own.
        tcp_keepidle = 5
        tcp_keepintvl = 3
        tcp_keepcnt = 3
        tcp_user_timeout = 15000
        logfile =
        pidfile = /var/run/postgresql/pgbouncer.pid

        """
}
