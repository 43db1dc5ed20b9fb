/// The settings of a private cluster.
enum PrivateClusterSettings {
    /// The lines that follow what `initdb` wrote.
    ///
    /// Durability is on, as in production. Only what depends on the size of the machine differs from PostgreSQL's defaults:
    /// the defaults are made for 1 GB of WAL between checkpoints, which a million messages use up in seconds.
    static func text(socketFolder: String, port: Int) -> String {
        """
        fsync = on
        full_page_writes = on
        synchronous_commit = on
        listen_addresses = ''
        unix_socket_directories = '\(socketFolder)'
        unix_socket_permissions = 0700
        port = \(port)
        max_connections = 100
        shared_buffers = 256MB
        wal_buffers = 16MB
        max_wal_size = 4GB
        checkpoint_timeout = 15min
        jit = off

        """
    }
}
