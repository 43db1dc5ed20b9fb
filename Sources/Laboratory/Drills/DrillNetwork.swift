import Administration
import Foundation

/// Hosts in network namespaces of this machine, each with two links: one to the database, one to the gateways.
///
/// So a host can be cut off from the database while it still sends. Each of the two networks has a bridge as its
/// switch. This machine has the first address in both, where the database server and the simulator listen.
struct DrillNetwork: Sendable {
    let hostCount: Int
    /// Eight hexadecimal digits in the names of this network's devices and namespaces, which distinguish them from
    /// others on the machine.
    private let mark: String
    /// The second and third byte of the database network's addresses.
    private let block: (Int, Int)

    /// A network for a drill's folder; nothing is created yet.
    init(folder: String, hostCount: Int) {
        self.hostCount = hostCount
        mark = String(PrivateCluster.folder(forSite: folder).suffix(8))
        let number = Int(mark, radix: 16) ?? 0
        block = (200 + number & 15, number >> 4 & 255)
    }

    /// The address that the database server listens on.
    var databaseAddress: String { "\(databasePrefix).1" }
    /// The address that the gateways listen on.
    var gatewayAddress: String { "\(gatewayPrefix).1" }
    /// The subnet of the database network, for `pg_hba.conf`.
    var databaseSubnet: String { "\(databasePrefix).0/24" }

    /// A command prefix that runs a command on a host (counted from 0).
    func wrapper(_ host: Int) throws -> [String] {
        [try Self.tool(), "netns", "exec", namespace(host)]
    }

    /// Creates bridges, namespaces and links, after removing those that an earlier run left.
    ///
    /// - Throws: `CommandFailure` unless the caller is root.
    func make() async throws {
        guard getuid() == 0 else {
            throw CommandFailure(.unavailable, "Creating network namespaces needs root: run this drill as root")
        }
        await remove()
        for (bridge, address) in [(databaseBridge, databaseAddress), (gatewayBridge, gatewayAddress)] {
            try await ip(["link", "add", bridge, "type", "bridge"])
            try await ip(["address", "add", "\(address)/24", "dev", bridge])
            try await ip(["link", "set", bridge, "up"])
        }
        for host in 0..<hostCount {
            try await ip(["netns", "add", namespace(host)])
            try await ip(["-n", namespace(host), "link", "set", "lo", "up"])
            try await link(host, databaseLink(host), inside: "database", databaseBridge, databasePrefix)
            try await link(host, gatewayLink(host), inside: "gateway", gatewayBridge, gatewayPrefix)
        }
    }

    /// Cuts a host off from the database: its packets are silently dropped, as when a switch dies.
    func cut(_ host: Int) async throws {
        try await ip(["link", "set", databaseLink(host), "nomaster"])
    }

    /// Cuts a host off from the gateways' network: packets are silently dropped, and neighbours do not notice that it
    /// is gone.
    func cutGateways(_ host: Int) async throws {
        let address = gatewayAddress(ofHost: host)
        // Lines of proc(5)'s net/arp: address, type, flags, hardware address, mask, device.
        let table = (try? String(contentsOfFile: "/proc/net/arp", encoding: .utf8)) ?? ""
        let entry = table.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == address[...] }
        guard let entry, entry.count > 3 else {
            throw DrillFailure("\(address) has no entry in /proc/net/arp: nothing was sent to it")
        }
        let neighbour = [address, "lladdr", String(entry[3]), "dev", gatewayBridge]
        try await ip(["neighbour", "replace"] + neighbour + ["nud", "permanent"])
        try await ip(["link", "set", gatewayLink(host), "nomaster"])
    }

    /// Reconnects a host to the gateways' network.
    func healGateways(_ host: Int) async throws {
        try await ip(["link", "set", gatewayLink(host), "master", gatewayBridge])
    }

    /// A host's address in the database network.
    func databaseAddress(ofHost host: Int) -> String { "\(databasePrefix).\(host + 11)" }
    /// A host's address in the gateways' network.
    func gatewayAddress(ofHost host: Int) -> String { "\(gatewayPrefix).\(host + 11)" }

    /// Reconnects a host to the database.
    func heal(_ host: Int) async throws {
        try await ip(["link", "set", databaseLink(host), "master", databaseBridge])
    }

    /// Cuts a host off from only some of the others: packets between them are silently dropped, as with a broken switch
    /// between two rooms. All of them must be in the database network.
    func separate(_ host: Int, from others: [Int]) async throws {
        for other in others {
            for (from, to) in [(host, other), (other, host)] {
                // No device has this hardware address.
                try await ip([
                    "-n", namespace(from), "neighbour", "replace", databaseAddress(ofHost: to), "lladdr",
                    "02:00:00:00:00:01",
                    "dev", "database", "nud", "permanent",
                ])
            }
        }
    }

    /// Ends a separation.
    func join(_ host: Int, to others: [Int]) async throws {
        for other in others {
            for (from, to) in [(host, other), (other, host)] {
                try await ip([
                    "-n", namespace(from), "neighbour", "delete", databaseAddress(ofHost: to), "dev", "database",
                ])
            }
        }
    }

    /// Sends SIGKILL to a host's processes for which the condition holds, until there are none.
    func killProcesses(of host: Int, where isMeant: (Int32) -> Bool) async throws {
        for _ in 0..<Self.killRounds {
            let processes = try await ToolRun.run(try Self.tool(), ["netns", "pids", namespace(host)])
                .split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }.filter(isMeant)
            if processes.isEmpty { return }
            for process in processes { kill(process, SIGKILL) }
            try await Task.sleep(for: Self.killInterval)
        }
        throw DrillFailure("processes of \(namespace(host)) still run after SIGKILL")
    }

    /// A killed process takes a moment to end, and may just be starting another one.
    private static let killRounds = 200
    private static let killInterval = Duration.milliseconds(25)

    /// A shell command that kills every process of every host.
    var killCommand: String {
        (0..<hostCount).map { "for p in $(ip netns pids \(namespace($0)) 2>/dev/null); do kill -9 $p; done" }
            .joined(separator: "; ")
    }

    /// The bytes that a host has sent towards the gateways so far.
    func bytesToGateways(_ host: Int) -> Int64 {
        let file = "/sys/class/net/\(gatewayLink(host))/statistics/rx_bytes"
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return Int64(text.split(whereSeparator: \.isWhitespace).first ?? "") ?? 0
    }

    /// A shell command that removes everything, for a later run if this drill cannot do so.
    var removalCommand: String {
        let spaces = (0..<hostCount).map { "ip netns delete \(namespace($0))" }
        let links = (0..<hostCount).flatMap { [databaseLink($0), gatewayLink($0)] } + [databaseBridge, gatewayBridge]
        return (links.map { "ip link delete \($0)" } + spaces).joined(separator: "; ")
    }

    /// Removes everything. Missing devices and namespaces are not an error.
    func remove() async {
        for host in 0..<hostCount {
            for link in [databaseLink(host), gatewayLink(host)] { _ = try? await ip(["link", "delete", link]) }
            _ = try? await ip(["netns", "delete", namespace(host)])
        }
        for bridge in [databaseBridge, gatewayBridge] { _ = try? await ip(["link", "delete", bridge]) }
    }

    private var databasePrefix: String { "10.\(block.0).\(block.1)" }
    private var gatewayPrefix: String { "10.\(block.0 + 16).\(block.1)" }
    // Device names have at most 15 characters.
    private var databaseBridge: String { "pm\(mark)d" }
    private var gatewayBridge: String { "pm\(mark)g" }
    private func databaseLink(_ host: Int) -> String { "\(databaseBridge)\(host + 1)" }
    private func gatewayLink(_ host: Int) -> String { "\(gatewayBridge)\(host + 1)" }
    private func namespace(_ host: Int) -> String { "pushmta-\(mark)-\(host + 1)" }

    private func link(_ host: Int, _ name: String, inside: String, _ bridge: String, _ prefix: String) async throws {
        let space = namespace(host)
        try await ip(["link", "add", name, "type", "veth", "peer", "name", inside, "netns", space])
        try await ip(["link", "set", name, "master", bridge, "up"])
        try await ip(["-n", space, "address", "add", "\(prefix).\(host + 11)/24", "dev", inside])
        try await ip(["-n", space, "link", "set", inside, "up"])
    }

    private func ip(_ arguments: [String]) async throws {
        try await ToolRun.run(try Self.tool(), arguments)
    }

    private static func tool() throws -> String {
        try Executables.tool("ip", package: "iproute2")
    }
}
