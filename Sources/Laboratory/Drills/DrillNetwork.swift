import Administration
import Foundation

/// Hosts in network namespaces of this machine, each with two links: one to the database, one to the gateways.
///
/// So a host can be cut off from the database while it still sends. A bridge stands for the switch of each of the two networks;
/// this machine has the first address in both, where the database's server and the simulator listen.
struct DrillNetwork: Sendable {
    let hostCount: Int
    /// What tells this network's devices and namespaces from those of others on the machine: eight hexadecimal digits.
    private let mark: String
    /// The second and third byte of the database network's addresses.
    private let block: (Int, Int)

    /// A network for a drill's folder; nothing is made yet.
    init(folder: String, hostCount: Int) {
        self.hostCount = hostCount
        mark = String(PrivateCluster.folder(forSite: folder).suffix(8))
        let number = Int(mark, radix: 16) ?? 0
        block = (200 + number & 15, number >> 4 & 255)
    }

    /// The address that the database's server listens on.
    var databaseAddress: String { "\(databasePrefix).1" }
    /// The address that the gateways listen on.
    var gatewayAddress: String { "\(gatewayPrefix).1" }
    /// The addresses of the database's network, for `pg_hba.conf`.
    var databaseSubnet: String { "\(databasePrefix).0/24" }

    /// The command that runs what follows it on a host (counted from 0).
    func wrapper(_ host: Int) throws -> [String] {
        [try Self.tool(), "netns", "exec", namespace(host)]
    }

    /// Makes bridges, namespaces and links; removes first what an earlier run left.
    ///
    /// - Throws: `CommandFailure` without the rights for it.
    func make() async throws {
        guard getuid() == 0 else {
            throw CommandFailure(.unavailable, "Network namespaces are made as root only: run this drill as root")
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

    /// Cuts a host off from the database: its packets are lost without a word, as when a switch dies.
    func cut(_ host: Int) async throws {
        try await ip(["link", "set", databaseLink(host), "nomaster"])
    }

    /// Cuts a host off from the network of the gateways: packets are lost without a word, and neighbours do not notice that it is gone.
    func cutGateways(_ host: Int) async throws {
        let address = gatewayAddress(ofHost: host)
        // Lines of proc(5)'s net/arp: address, type, flags, hardware address, mask, device.
        let table = (try? String(contentsOfFile: "/proc/net/arp", encoding: .utf8)) ?? ""
        let entry = table.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == address[...] }
        guard let entry, entry.count > 3 else { throw DrillFailure("\(address) has not been talked to") }
        let neighbour = [address, "lladdr", String(entry[3]), "dev", gatewayBridge]
        try await ip(["neighbour", "replace"] + neighbour + ["nud", "permanent"])
        try await ip(["link", "set", gatewayLink(host), "nomaster"])
    }

    /// Lets a host reach the network of the gateways again.
    func healGateways(_ host: Int) async throws {
        try await ip(["link", "set", gatewayLink(host), "master", gatewayBridge])
    }

    /// The address of a host in the database's network.
    func databaseAddress(ofHost host: Int) -> String { "\(databasePrefix).\(host + 11)" }
    /// The address of a host in the network of the gateways.
    func gatewayAddress(ofHost host: Int) -> String { "\(gatewayPrefix).\(host + 11)" }

    /// Lets a host reach the database again.
    func heal(_ host: Int) async throws {
        try await ip(["link", "set", databaseLink(host), "master", databaseBridge])
    }

    /// Cuts a host off from some of the others only: what they say to each other is lost without a word, as with a broken switch
    /// between two rooms. All of them have to be in the database's network.
    func separate(_ host: Int, from others: [Int]) async throws {
        for other in others {
            for (from, to) in [(host, other), (other, host)] {
                // Nobody has this hardware address.
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

    /// SIGKILL to the processes of a host that the condition holds for, until there are none.
    func killProcesses(of host: Int, where isMeant: (Int32) -> Bool) async throws {
        for _ in 0..<Self.killRounds {
            let processes = try await ToolRun.run(try Self.tool(), ["netns", "pids", namespace(host)])
                .split(whereSeparator: \.isWhitespace).compactMap { Int32($0) }.filter(isMeant)
            if processes.isEmpty { return }
            for process in processes { kill(process, SIGKILL) }
            try await Task.sleep(for: Self.killInterval)
        }
        throw DrillFailure("processes of \(namespace(host)) do not end")
    }

    /// A process that is killed may be about to start another one; and one takes a moment to end.
    private static let killRounds = 200
    private static let killInterval = Duration.milliseconds(25)

    /// A command for the shell that ends every process of every host.
    var killCommand: String {
        (0..<hostCount).map { "for p in $(ip netns pids \(namespace($0)) 2>/dev/null); do kill -9 $p; done" }
            .joined(separator: "; ")
    }

    /// Bytes that a host has sent towards the gateways so far.
    func bytesToGateways(_ host: Int) -> Int64 {
        let file = "/sys/class/net/\(gatewayLink(host))/statistics/rx_bytes"
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return Int64(text.split(whereSeparator: \.isWhitespace).first ?? "") ?? 0
    }

    /// A command for the shell that removes everything, for whoever finds the network after a drill that could not.
    var removalCommand: String {
        let spaces = (0..<hostCount).map { "ip netns delete \(namespace($0))" }
        let links = (0..<hostCount).flatMap { [databaseLink($0), gatewayLink($0)] } + [databaseBridge, gatewayBridge]
        return (links.map { "ip link delete \($0)" } + spaces).joined(separator: "; ")
    }

    /// Removes everything; what is not there is no error.
    func remove() async {
        for host in 0..<hostCount {
            for link in [databaseLink(host), gatewayLink(host)] { _ = try? await ip(["link", "delete", link]) }
            _ = try? await ip(["netns", "delete", namespace(host)])
        }
        for bridge in [databaseBridge, gatewayBridge] { _ = try? await ip(["link", "delete", bridge]) }
    }

    private var databasePrefix: String { "10.\(block.0).\(block.1)" }
    private var gatewayPrefix: String { "10.\(block.0 + 16).\(block.1)" }
    // Names of devices have at most 15 characters.
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
