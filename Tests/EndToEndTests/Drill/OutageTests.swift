import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The parts of the drill `gateway-outage` that evaluate and count.
@Suite struct OutageTests {
    /// In Linux's format: the second line is the gateway's side of the first, the third goes elsewhere, and the last is
    /// refused at once.
    private static let table = """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:A1B2 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  0 0 1 1 0 20 4 30 10 -1
           1: 0100007F:1F90 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000  0 0 2 1 0 20 4 30 10 -1
           2: 0100007F:A1B3 0100007F:1F91 02 00000000:00000000 00:00000000 00000000  0 0 3 1 0 20 4 30 10 -1
           3: 0A0000C8:A1B4 0B0000D8:1F90 06 00000000:00000000 00:00000000 00000000  0 0 0 1 0 20 4 30 10 -1
        broken
        """

    @Test func dialsAreToldByTheirOwnPorts() {
        let found = DialWatcher.connections(Self.table, to: [8080])
        #expect(found.map(\.own) == ["0100007F:A1B2", "0A0000C8:A1B4"])
        #expect(found.allSatisfy { $0.port == 8080 })
        #expect(DialWatcher.connections("", to: [8080]).isEmpty)
    }

    @Test func dialsOfClosedPortsStandInTheLog() {
        let line = "2026-11-22T10:00:00Z warning mta-child 3: APNs gateway localhost:8443 cannot be reached"
        let log = """
            \(line) (attempt 1): connection refused. Messages stay pending.
            another line: 1 (attempt 2)
            \(line) (attempt 2): connection refused. Messages stay pending.
            FCM gateway 127.0.0.1:9 cannot be reached (attempt 7): connection refused
            """
        #expect(GatewayOutageDrill.refusals(in: log) == [8443: 2, 9: 1])
    }

    @Test func everyRowHasItsOwnNameAndAGateway() {
        let rows = OutageRow.all
        #expect(Set(rows.map(\.name)).count == rows.count)
        #expect(rows.allSatisfy { !$0.platforms.isEmpty })
        for row in rows { #expect(row.platforms.allSatisfy { row.action($0) != nil }) }
    }

    @Test func anOutageThatTakesTooLongOrTooShortIsRefused() async throws {
        for length in ["4", "86401"] {
            let run = try await Program.lab().run(["drill", "run", "gateway-outage", "--outage", length])
            #expect(run.status == 64)
            #expect(run.errors.contains("--outage"))
        }
    }
}
