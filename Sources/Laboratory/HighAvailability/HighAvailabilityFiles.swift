import Foundation

/// The configuration of PostgreSQL under Patroni that the drills use. It equals the files of `Deploy/ha`; a test
/// compares them.
enum HighAvailabilityFiles {
    /// The values of the words between two @.
    struct Values: Sendable {
        var servers: [String]
        /// The addresses of servers and clients, for `pg_hba.conf`.
        var network: String
        /// The password of every role.
        var password: String

        /// Replaces all words in a text. `server`, counted from 0, is the server that the text is for.
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
        # Fill in the words between two @ as Deploy/guide/high-availability.md says. Only @NAME@ and @ADDRESS@ differ
        # between the three. The file holds passwords: owner postgres, mode 0600.

        scope: pushmta
        name: @NAME@

        restapi:
          # HAProxy asks here which server is the primary.
          listen: "@ADDRESS@:8008"
          connect_address: "@ADDRESS@:8008"

        # Do not use etcd3. With it, a former primary that reaches etcd again under Patroni 3.0.2 overwrites the new
        # primary's name. The former primary may then be promoted without the commits acknowledged since. With etcd's v2
        # API, Patroni compares first.
        etcd:
          hosts: "@DB1@:2379,@DB2@:2379,@DB3@:2379"

        bootstrap:
          # Stored in etcd when the first of the three starts; `patronictl edit-config` changes it later.
          dcs:
            # Seconds after which a primary that no longer renews its lock is replaced. Deliveries stop for about ttl +
            # loop_wait. It must be at least loop_wait + 2 × retry_timeout.
            ttl: 20
            loop_wait: 5
            retry_timeout: 5
            # Seconds that a primary has to restart a dead PostgreSQL before a replica is promoted; 0: at once.
            primary_start_timeout: 0
            # Every acknowledged commit is on two servers. Without a replica, commits wait, and so do deliveries. So no
            # outcome is lost in a failover, nor by a primary that does not know yet that it is cut off. With only two
            # servers, omit synchronous_mode_strict; the remaining server then continues alone.
            synchronous_mode: true
            synchronous_mode_strict: true
            # If etcd is down, the primary stays primary as long as it reaches all other servers.
            failsafe_mode: true
            postgresql:
              use_pg_rewind: true
              use_slots: true
              parameters:
                # A commit waits until the replica has it on disk.
                synchronous_commit: "on"
                fsync: "on"
                full_page_writes: "on"
                # Needed by pg_rewind, which turns a former primary into a replica.
                wal_log_hints: "on"
                # A replica that is cut off is noticed after 10 s; commits then wait for another one. With the default,
                # a minute, no commit would return for a minute.
                wal_sender_timeout: 10s
                wal_receiver_timeout: 10s
                # Each PushMTA child has 2 connections, a supervisor 4, and a web process up to 10.
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
            # The first `pushmta migrate` needs CREATEROLE to create the roles of the schema; revoke it afterwards.
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
          # Data that only a former primary has is discarded: it was never acknowledged.
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
        # /etc/default/etcd of one of three database servers: etcd 3.4 of Debian 12, where Patroni stores which server
        # is the primary.
        #
        # Fill in the words between two @ as Deploy/guide/high-availability.md says. Only @NAME@ and @ADDRESS@ differ
        # between the three.

        ETCD_NAME=@NAME@
        ETCD_DATA_DIR=/var/lib/etcd/pushmta
        ETCD_LISTEN_PEER_URLS=http://@ADDRESS@:2380
        ETCD_LISTEN_CLIENT_URLS=http://@ADDRESS@:2379,http://127.0.0.1:2379
        ETCD_INITIAL_ADVERTISE_PEER_URLS=http://@ADDRESS@:2380
        ETCD_ADVERTISE_CLIENT_URLS=http://@ADDRESS@:2379
        ETCD_INITIAL_CLUSTER=db1=http://@DB1@:2380,db2=http://@DB2@:2380,db3=http://@DB3@:2380
        ETCD_INITIAL_CLUSTER_STATE=new
        ETCD_INITIAL_CLUSTER_TOKEN=pushmta
        # Patroni uses etcd's v2 API: see section etcd of patroni.yml.
        ETCD_ENABLE_V2=true
        # Milliseconds. They are five times the defaults: a briefly busy disk must not cause an election, and Patroni's
        # ttl is 20 s.
        ETCD_HEARTBEAT_INTERVAL=500
        ETCD_ELECTION_TIMEOUT=5000

        """

    /// `Deploy/ha/haproxy.cfg`.
    static let haproxy = """
        # /etc/haproxy/haproxy.cfg of a PushMTA host: forwards connections to 127.0.0.1:5000 to the primary that Patroni
        # reports.
        #
        # Fill in the words between two @ as Deploy/guide/high-availability.md says. HAProxy is for clients that accept
        # only one address; PushMTA itself does not need it.

        global
            maxconn 1000

        defaults
            mode tcp
            timeout connect 3s
            timeout check 2s
            # A connection that waits for notifications may be silent for long; TCP keepalive detects dead peers.
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
            # When a server is no longer the primary, its connections are closed at once. Clients reconnect and reach
            # the new primary.
            default-server inter 2s fastinter 1s fall 2 rise 1 on-marked-down shutdown-sessions
            server db1 @DB1@:5432 check port 8008
            server db2 @DB2@:5432 check port 8008
            server db3 @DB3@:5432 check port 8008

        """

    /// `Deploy/ha/pgbouncer.ini`.
    static let pgbouncer = """
        ; /etc/pgbouncer/pgbouncer.ini of a PushMTA host that needs a pooler: in front of HAProxy, in session mode.
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
        ; Each client needs its own server session: the engine keeps settings, prepared statements and LISTEN in it.
        pool_mode = session
        ; At least the number of PushMTA's connections on this host.
        default_pool_size = 100
        max_client_conn = 200
        ; A client that gets no server receives an error and tries again, instead of waiting silently.
        query_wait_timeout = 10
        server_connect_timeout = 5
        server_login_retry = 1
        ; A server that no longer answers is given up as early as by a direct client.
        tcp_keepidle = 5
        tcp_keepintvl = 3
        tcp_keepcnt = 3
        tcp_user_timeout = 15000
        logfile =
        pidfile = /var/run/postgresql/pgbouncer.pid

        """
}
