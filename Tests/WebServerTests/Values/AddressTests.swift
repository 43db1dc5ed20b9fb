import Testing

@testable import HTTPConnections
@testable import PushCore
@testable import WebServer

@Suite struct AddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"),
        ("2001:DB8::8:800:200C:417A", "2001:db8:0:0:8:800:200c:417a"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"),
        ("1::", "1:0:0:0:0:0:0:0"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ])
    func addressesAreRead(_ text: String, _ written: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == written)
        #expect(IPAddress(written) == address)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.-4", "a.b.c.d", "1..2.3", ":", ":::", "1:2:3",
        "1:2:3:4:5:6:7:8:9",
        "::1::", "12345::", "g::", "1:2:3:4:5:6:7:8::", "::1.2.3", "1.2.3.4:80", "1:", ":1", "1.2.3.4::",
    ])
    func othersAreNot(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func rangesHoldTheirAddresses() throws {
        func holds(_ range: String, _ address: String) throws -> Bool {
            try #require(AddressRange(range)).contains(try #require(IPAddress(address)))
        }
        #expect(try holds("10.0.0.0/8", "10.255.0.1"))
        #expect(try !holds("10.0.0.0/8", "11.0.0.1"))
        #expect(try holds("10.1.2.3/8", "10.9.9.9"))
        #expect(try holds("0.0.0.0/0", "203.0.113.1"))
        #expect(try !holds("0.0.0.0/0", "2001:db8::1"))
        #expect(try holds("::/0", "203.0.113.1"))
        #expect(try holds("2001:db8::/32", "2001:db8:ffff::1"))
        #expect(try !holds("2001:db8::/32", "2001:db9::"))
        #expect(try holds("::1", "::1"))
        #expect(try holds("2001:db8::/127", "2001:db8::1"))
        #expect(try !holds("2001:db8::/127", "2001:db8::2"))
        for wrong in ["10.0.0.0/33", "::/129", "x/8", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1"] {
            #expect(AddressRange(wrong) == nil, "\(wrong)")
        }
        #expect(AddressRange.list("127.0.0.0/8, ::1")?.count == 2)
        #expect(AddressRange.list("")?.isEmpty == true)
        #expect(AddressRange.list("127.0.0.0/8, proxy") == nil)
    }

    @Test func theClientIsTheFirstStrangerFromTheRight() throws {
        let trust = ProxyTrust(trusted: try #require(AddressRange.list("10.0.0.0/8")))
        func client(_ peer: String, _ list: String?) throws -> String {
            trust.client(of: try #require(IPAddress(peer)), forwardedFor: list).address.description
        }
        #expect(try client("10.0.0.1", nil) == "10.0.0.1")
        #expect(try client("10.0.0.1", "203.0.113.1") == "203.0.113.1")
        #expect(try client("10.0.0.1", "1.1.1.1, 203.0.113.1, 10.0.0.2") == "203.0.113.1")
        #expect(try client("10.0.0.1", "203.0.113.1:4711") == "203.0.113.1")
        #expect(try client("10.0.0.1", "[2001:db8::1]:4711") == "2001:db8:0:0:0:0:0:1")
        #expect(try client("10.0.0.1", "nonsense") == "10.0.0.1")
        #expect(try client("10.0.0.1", "203.0.113.1, nonsense, 10.0.0.2") == "10.0.0.2")
        #expect(try client("192.0.2.1", "203.0.113.1") == "192.0.2.1")
        // Only requests that a trusted proxy makes in its own name have no limit.
        func isProxy(_ peer: String, _ list: String?) throws -> Bool {
            trust.client(of: try #require(IPAddress(peer)), forwardedFor: list).isProxy
        }
        for list in [nil, "10.0.0.2", "10.0.0.2, 10.0.0.3:80"] { #expect(try isProxy("10.0.0.1", list)) }
        for list in ["203.0.113.1", "unknown", "203.0.113.1, nonsense, 10.0.0.2", "10.0.0.2, _hidden"] {
            #expect(try !isProxy("10.0.0.1", list), "\(list)")
        }
        #expect(try !isProxy("192.0.2.1", nil))
    }

    @Test func theRateLimitRefillsAndStaysSmall() throws {
        var limit = AddressRateLimit(perSecond: 2, burst: 3, capacity: 100)
        let one = try #require(IPAddress("192.0.2.1"))
        #expect((0..<5).map { _ in limit.allow(one, seconds: 10) } == [true, true, true, false, false])
        #expect((0..<3).map { _ in limit.allow(one, seconds: 11) } == [true, true, false])
        // A clock that goes back adds nothing.
        let early = limit.allow(one, seconds: 5)
        #expect(!early)
        let other = limit.allow(try #require(IPAddress("192.0.2.2")), seconds: 11)
        #expect(other)
        // One IPv6 client has a whole /64.
        let six = try (0..<4).map { try #require(IPAddress("2001:db8::\($0)")) }
        #expect(six.map { limit.allow($0, seconds: 20) } == [true, true, true, false])
        for number in 0..<10_000 {
            _ = limit.allow(IPAddress(high: UInt64(number), low: 1), seconds: 20 + Double(number) / 100)
            #expect(limit.count <= 100)
        }
        // A client that has used up its requests is remembered, however many others come: those with the most requests
        // left are dropped.
        var crowded = AddressRateLimit(perSecond: 1, burst: 10, capacity: 200)
        for _ in 0..<10 { _ = crowded.allow(one, seconds: 30) }
        for number in 0..<10_000 {
            _ = crowded.allow(IPAddress(ipv4: 0x0A00_0000 + UInt32(number)), seconds: 30)
            #expect(crowded.count <= 200)
        }
        #expect(crowded.isExhausted(one, seconds: 30))
        let again = crowded.allow(one, seconds: 30)
        #expect(!again, "strangers cannot have it forgotten")
        // A /48 has the requests of eight clients, however many /64s it uses.
        var wide = AddressRateLimit(perSecond: 1, burst: 10, capacity: 1_000)
        let allowed = (0..<1_000).count {
            wide.allow(IPAddress(high: 0x2001_0DB8_0001_0000 + UInt64($0), low: 1), seconds: 30)
        }
        #expect(allowed == 80)
        let neighbour = wide.allow(IPAddress(high: 0x2001_0DB8_0002_0000, low: 1), seconds: 30)
        #expect(neighbour)
        var none = AddressRateLimit(perSecond: 0, burst: 1)
        #expect((0..<100).allSatisfy { _ in none.allow(one, seconds: 1) })
    }
}
