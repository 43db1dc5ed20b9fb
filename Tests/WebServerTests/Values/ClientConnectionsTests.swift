import Testing

@testable import HTTPConnections
@testable import PushCore
@testable import WebServer

@Suite struct ClientConnectionsTests {
    @Test func eachClientHasItsOwnAndGivesThemBack() throws {
        var connections = ClientConnections(limit: 3)
        let one = try #require(IPAddress("192.0.2.1"))
        let opened = (0..<5).map { _ in connections.open(one) }
        #expect(opened == [true, true, true, false, false])
        let other = connections.open(try #require(IPAddress("192.0.2.2")))
        #expect(other)
        connections.close(one)
        let after = [connections.open(one), connections.open(one)]
        #expect(after == [true, false])
        for _ in 0..<3 { connections.close(one) }
        // Releasing once too often has no effect.
        connections.close(one)
        connections.close(try #require(IPAddress("192.0.2.2")))
        #expect(connections.count == 0)
    }

    @Test func aNetworkOfIPv6IsOneClientAndItsSiteHasTwice() {
        var connections = ClientConnections(limit: 3)
        let site: UInt64 = 0x2001_0DB8_0001_0000
        // All addresses of a /64 count as one client.
        let same = (0..<5).map { connections.open(IPAddress(high: site, low: $0)) }
        #expect(same == [true, true, true, false, false])
        // Other /64s of the same /48.
        #expect(
            (1...5).map { connections.open(IPAddress(high: site + $0, low: 1)) } == [true, true, true, false, false]
        )
        let neighbour = connections.open(IPAddress(high: site + 0x1_0000, low: 1))
        #expect(neighbour)
        for low in 0..<3 { connections.close(IPAddress(high: site, low: UInt64(low))) }
        let after = connections.open(IPAddress(high: site + 4, low: 1))
        #expect(after)
    }
}
