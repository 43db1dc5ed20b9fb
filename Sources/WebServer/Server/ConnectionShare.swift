/// How many connections each port may have, so that the process always has a file left for what else it does: without one, the
/// system's own libraries end it.
struct ConnectionShare: Sendable, Hashable {
    /// Connections at once.
    let connections: Int
    /// The limit of open files that the setting needs; nil if there is room for it.
    let wanted: Int?

    /// How many of them one client may have: half at most, so that two of them do not shut all others out.
    ///
    /// - Parameter setting: `web.limits.maxConnectionsPerClient`.
    func mostOfClient(_ setting: Int) -> Int { max(1, min(setting, connections / 2)) }

    /// How many of them are kept for the API: a quarter at most.
    ///
    /// - Parameter setting: `web.limits.apiConnections`.
    func kept(_ setting: Int) -> Int { min(setting, connections / 4) }

    /// Files beside connections: the database's connections, spools, logs, what the libraries open for a moment, and connections
    /// that are accepted with the last one.
    private static let reserve = 100
    /// Files of each thread that serves connections.
    private static let perThread = 4
    /// Fewer connections than these would serve nobody.
    private static let fewest = 16

    /// - Parameters:
    ///   - setting: `web.limits.maxConnections`.
    ///   - limit: how many files may be open.
    init(setting: Int, limit: Int, ports: Int, threads: Int) throws(WebServerError) {
        let reserve = Self.reserve + threads * Self.perThread
        let room = max(0, limit - reserve) / max(1, ports)
        guard room >= min(setting, Self.fewest) else {
            throw WebServerError(
                code: .setting,
                description:
                    "This process may have \(limit) files open at once, and needs \(reserve + Self.fewest * ports) to serve anybody: raise the limit (ulimit -n, or LimitNOFILE= of the service)."
            )
        }
        connections = min(setting, room)
        wanted = setting > room ? reserve + setting * ports : nil
    }
}
