import Administration
import CurlClient
import Foundation
import PushCore

/// Three database servers in network namespaces of this machine. Each runs etcd, Patroni and PostgreSQL with the
/// configuration of `Deploy/ha`.
struct PatroniCluster: Sendable {
    /// The number of servers: the minimum with which etcd survives the loss of one.
    static let serverCount = 3
    /// What a drill with these servers needs from the machine.
    static let needs: [DrillNeed] = [
        .networkNamespaces, .simulator, .tool("patroni", package: "patroni"), .tool("etcd", package: "etcd-server"),
        .tool("setpriv", package: "util-linux"),
    ]

    /// The network; its first hosts are the servers.
    let network: DrillNetwork
    /// The folder of data and settings, and the user that owns it and runs the servers.
    private let base: PrivateCluster
    private let values: HighAvailabilityFiles.Values
    private let etcd: [BackgroundProcess]
    private let patroni: [BackgroundProcess]
    private let client = CurlClient()

    /// The servers of a site; nothing is created or started. All roles share a random password.
    init(_ site: DrillSite, network: DrillNetwork) throws {
        self.network = network
        base = site.cluster
        values = HighAvailabilityFiles.Values(
            servers: (0..<Self.serverCount).map { network.databaseAddress(ofHost: $0) },
            network: network.databaseSubnet,
            password: UUID().uuidString.lowercased()
        )
        func processes(_ name: String) -> [BackgroundProcess] {
            (1...Self.serverCount).map { number in
                var process = BackgroundProcess(
                    name: "\(name) \(number)",
                    recordFile: "\(site.folder)/run/\(name)\(number).pid",
                    logFile: "\(site.folder)/log/\(name)\(number).log"
                )
                process.appendsLog = true
                return process
            }
        }
        etcd = processes("etcd")
        patroni = processes("patroni")
    }

    /// The connection string with which libpq finds the primary among the servers, as in `Deploy/ha/pushmta.yaml`.
    func connectionString(database: String) -> String {
        "host=\(values.servers.joined(separator: ",")) port=5432 \(login(database)) connect_timeout=3"
    }

    /// The connection string through HAProxy on a host.
    func proxiedConnectionString(database: String) -> String {
        "host=127.0.0.1 port=5000 \(login(database)) connect_timeout=5"
    }

    /// The connection string through pgbouncer and HAProxy on a host.
    func pooledConnectionString(database: String) -> String {
        "host=127.0.0.1 port=6432 \(login(database)) connect_timeout=15"
    }

    private func login(_ database: String) -> String {
        "dbname=\(database) user=\(PrivateCluster.role) password=\(values.password) target_session_attrs=read-write"
    }

    /// Writes the settings, starts all servers, and waits until one is the primary and the others follow it.
    func start() async throws {
        try await base.makeFolder()
        for server in 0..<Self.serverCount { try write(server) }
        for server in 0..<Self.serverCount { try await start(etcd[server], server, ["etcd"], etcdVariables(server)) }
        for server in 0..<Self.serverCount { try await startPatroni(server) }
        try await untilWhole()
    }

    /// Restarts the killed processes of a server.
    func restart(_ server: Int) async throws {
        if etcd[server].running == nil { try await start(etcd[server], server, ["etcd"], etcdVariables(server)) }
        if patroni[server].running == nil { try await startPatroni(server) }
    }

    /// Creates the database, owned by the engine's role, and waits until every server has it. libpq may try a replica
    /// first, and does not try the next server if the replica does not know the database yet.
    func createDatabase(_ name: String) async throws {
        let server = try await primary()
        try await run("createdb", on: server, [name])
        let deadline = ContinuousClock.now.advanced(by: Self.databaseLimit)
        for server in 0..<Self.serverCount {
            while true {
                do {
                    try await run("psql", on: server, ["-d", name, "-c", ""])
                    break
                } catch {
                    guard ContinuousClock.now < deadline else { throw error }
                    try await Task.sleep(for: Self.lookInterval)
                }
            }
        }
    }

    /// How long replicas may take to replay the creation of the database.
    private static let databaseLimit = Duration.seconds(60)

    private func run(_ program: String, on server: Int, _ arguments: [String]) async throws {
        try await ToolRun.run(
            try PrivateCluster.program(program),
            ["-h", values.servers[server], "-U", PrivateCluster.role] + arguments,
            environment: ["PGPASSWORD": values.password, "PGDATABASE": "postgres"]
        )
    }

    /// Sends SIGKILL to a server's Patroni and PostgreSQL, and to its etcd if `withEtcd`.
    func kill(_ server: Int, withEtcd: Bool) async throws {
        let spared = withEtcd ? nil : etcd[server].running?.id
        try await network.killProcesses(of: server) { $0 != spared }
    }

    func stop() async {
        for server in 0..<Self.serverCount { try? await network.killProcesses(of: server) { _ in true } }
    }

    /// Writes the settings of HAProxy and pgbouncer on one of PushMTA's hosts, into a folder that the server's user can
    /// enter.
    func writeProxies(_ host: String) throws -> (haproxy: String, pgbouncer: String) {
        let folder = base.folder + "/" + host
        try makeFolder(folder)
        try write(values.fill(HighAvailabilityFiles.haproxy), folder + "/haproxy.cfg")
        try write("\"\(PrivateCluster.role)\" \"\(values.password)\"\n", folder + "/userlist.txt")
        let settings = values.fill(HighAvailabilityFiles.pgbouncer)
            .replacing("/etc/pgbouncer/userlist.txt", with: folder + "/userlist.txt")
            .replacing("/var/run/postgresql/", with: folder + "/")
        try write(settings, folder + "/pgbouncer.ini")
        return (folder + "/haproxy.cfg", folder + "/pgbouncer.ini")
    }

    /// A command prefix that runs a command in a host's namespace as the server's user.
    func asServerUser(_ host: Int) throws -> [String] {
        var command = try network.wrapper(host)
        if let user = base.user {
            command += [
                "/usr/bin/setpriv", "--reuid", String(user.userID), "--regid", String(user.groupID), "--clear-groups",
            ]
        }
        return command
    }
}

extension PatroniCluster {
    /// A server as reported by Patroni.
    struct Member: Sendable, Decodable, Equatable {
        var name: String
        var role: String
        var state: String
        var timeline: Int64?

        /// Whether it is the primary or follows it on the same timeline.
        func isFit(on timeline: Int64?) -> Bool { state == "running" && timeline != nil && self.timeline == timeline }
    }

    private struct Answer: Decodable {
        var members: [Member]
    }

    /// How long it may take until one server is the primary and all others follow it. That is three starts, or a
    /// rewind, on a busy machine.
    private static let wholeLimit = Duration.seconds(180)
    private static let lookInterval = Duration.milliseconds(250)
    /// Longer than Patroni takes to answer. A server that is cut off does not answer.
    private static let answerMilliseconds = 2_000

    /// The index of the primary, counted from 0.
    ///
    /// - Throws: `DrillFailure` unless exactly one server reports that it is the primary.
    func primary() async throws -> Int {
        var found: [Int] = []
        for server in 0..<Self.serverCount {
            if let status = try? await ask(server, "/primary").status, status == 200 { found.append(server) }
        }
        guard found.count == 1 else { throw DrillFailure("\(found.count) servers report that they are the primary") }
        return found[0]
    }

    /// Waits until a server other than `old` is the primary.
    ///
    /// - Returns: Its index.
    @discardableResult
    func untilPrimary(otherThan old: Int) async throws -> Int {
        let deadline = ContinuousClock.now.advanced(by: Self.wholeLimit)
        while ContinuousClock.now < deadline {
            for server in 0..<Self.serverCount where server != old {
                if let status = try? await ask(server, "/primary").status, status == 200 { return server }
            }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw DrillFailure("no other server became the primary within \(Self.wholeLimit)")
    }

    /// Waits until one server is the primary, one is its synchronous replica, all run on the same timeline, and all
    /// report that. A server that was cut off reports the old state for a while.
    func untilWhole() async throws {
        let deadline = ContinuousClock.now.advanced(by: Self.wholeLimit)
        while ContinuousClock.now < deadline {
            if await isWhole() { return }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw DrillFailure("the servers did not all follow one primary within \(Self.wholeLimit)")
    }

    private func isWhole() async -> Bool {
        var leaders: Set<String> = []
        for server in 0..<Self.serverCount {
            guard let answer = try? await ask(server, "/cluster"), answer.status == 200,
                let members = try? JSONBody.decode(Answer.self, from: answer.body).members,
                let leader = members.first(where: { $0.role == "leader" })
            else { return false }
            let isFit =
                members.count == Self.serverCount && members.allSatisfy { $0.isFit(on: leader.timeline) }
                && members.contains { $0.role == "sync_standby" }
            guard isFit else { return false }
            leaders.insert(leader.name)
        }
        guard leaders.count == 1 else { return false }
        return (try? await primary()) != nil
    }

    private func ask(_ server: Int, _ path: String) async throws -> CurlResponse {
        try await client.perform(
            CurlRequest(
                url: "http://\(values.servers[server]):8008\(path)",
                timeoutMilliseconds: Self.answerMilliseconds
            )
        )
    }
}

extension PatroniCluster {
    private func folder(_ server: Int) -> String { base.folder + "/db\(server + 1)" }

    private func write(_ server: Int) throws {
        let folder = folder(server)
        try makeFolder(folder)
        let text = values.fill(HighAvailabilityFiles.patroni, server: server)
            .replacing("/var/lib/postgresql/15/pushmta", with: folder + "/data")
            .replacing("/var/lib/postgresql/pushmta.pgpass", with: folder + "/pgpass")
            .replacing("/usr/lib/postgresql/15/bin", with: base.programs)
            .replacing("/var/run/postgresql", with: folder)
        try write(text, folder + "/patroni.yml")
    }

    private func makeFolder(_ path: String) throws {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        if let user = base.user {
            attributes[.ownerAccountID] = NSNumber(value: user.userID)
            attributes[.groupOwnerAccountID] = NSNumber(value: user.groupID)
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: attributes)
    }

    /// Writes a file that only the server's user can read, because it contains passwords.
    private func write(_ text: String, _ path: String) throws {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if let user = base.user {
            attributes[.ownerAccountID] = NSNumber(value: user.userID)
            attributes[.groupOwnerAccountID] = NSNumber(value: user.groupID)
        }
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes) else {
            throw DrillFailure("cannot write \(path)")
        }
    }

    /// etcd also takes each of its options from an environment variable.
    private func etcdVariables(_ server: Int) -> [String: String] {
        let text = values.fill(HighAvailabilityFiles.etcd, server: server)
            .replacing("/var/lib/etcd/pushmta", with: folder(server) + "/etcd")
        var variables: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            variables[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
        return variables
    }

    private func startPatroni(_ server: Int) async throws {
        try await start(patroni[server], server, ["patroni", folder(server) + "/patroni.yml"])
    }

    private func start(
        _ process: BackgroundProcess,
        _ server: Int,
        _ words: [String],
        _ variables: [String: String] = [:]
    ) async throws {
        let program = try Executables.tool(words[0], package: words[0] == "etcd" ? "etcd-server" : words[0])
        let command = try asServerUser(server) + [program] + words.dropFirst()
        try await process.start(command[0], Array(command.dropFirst()), environment: variables)
    }
}
