import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Names and addresses of a drill's network; no network is created here.
@Suite struct DrillNetworkTests {
    private let network = DrillNetwork(folder: "/somewhere/drill-1", hostCount: 3)

    /// The kernel accepts at most 15 characters for a device's name.
    @Test func devicesHaveNamesThatTheKernelTakes() {
        let words = network.removalCommand.split { " ;".contains($0) }
        let devices = words.indices.dropFirst().filter { words[$0 - 1] == "delete" && words[$0].hasPrefix("pm") }
            .map { words[$0] }
        #expect(Set(devices).count >= 8)
        #expect(devices.allSatisfy { $0.count <= 15 || $0.hasPrefix("pushmta-") })
    }

    @Test func theTwoNetworksDiffer() {
        #expect(network.databaseAddress != network.gatewayAddress)
        #expect(network.databaseSubnet.hasSuffix(".0/24"))
    }

    @Test func drillsDoNotMeet() {
        let other = DrillNetwork(folder: "/somewhere/drill-2", hostCount: 3)
        #expect(other.databaseAddress != network.databaseAddress)
        #expect(other.removalCommand != network.removalCommand)
    }
}
