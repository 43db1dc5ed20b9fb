import Foundation
import Testing

@testable import Laboratory

/// The files for operators are those that the drills use.
@Suite struct HighAvailabilityTests {
    @Test(arguments: [
        ("patroni.yml", HighAvailabilityFiles.patroni), ("etcd.env", HighAvailabilityFiles.etcd),
        ("haproxy.cfg", HighAvailabilityFiles.haproxy), ("pgbouncer.ini", HighAvailabilityFiles.pgbouncer),
    ])
    func theFilesOfDeployAreThoseOfTheDrills(_ name: String, _ text: String) throws {
        let file = ProjectFolder.path + "/Deploy/ha/" + name
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test func everyWordIsFilledIn() {
        let values = HighAvailabilityFiles.Values(
            servers: ["10.0.0.1", "10.0.0.2", "10.0.0.3"],
            network: "10.0.0.0/24",
            password: "secret"
        )
        let texts = [
            HighAvailabilityFiles.patroni, HighAvailabilityFiles.etcd, HighAvailabilityFiles.haproxy,
            HighAvailabilityFiles.pgbouncer,
        ]
        for text in texts {
            let filled = values.fill(text, server: 1)
            #expect(filled.firstMatch(of: #/@[A-Z0-9_]+@/#) == nil)
            #expect(filled != text)
        }
        #expect(values.fill(HighAvailabilityFiles.patroni, server: 1).contains("listen: \"10.0.0.2:5432\""))
    }

    @Test func aStandstillIsTheLongestTimeWithoutMessages() {
        // It lies in the past, as a query since a moment covers the time up to now.
        let start = ContinuousClock.now.advanced(by: .seconds(-10))
        func moment(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }
        let traffic = HostTraffic()
        // Messages for 2 s, PINGs for 3 s, messages for 1 s.
        var bytes: Int64 = 0
        for quarter in 0...24 {
            bytes += quarter <= 8 || quarter > 20 ? 10_000 : 100
            traffic.add(HostTraffic.Sample(moment: moment(Double(quarter) / 4), bytes: bytes), 7)
        }
        let longest = traffic.standstill(7, from: moment(1), to: moment(6)) / .seconds(1)
        #expect((3.0...3.3).contains(longest))
        #expect(traffic.sends(7, since: moment(5.1)))
        #expect(!traffic.sends(8, since: start))
    }
}
