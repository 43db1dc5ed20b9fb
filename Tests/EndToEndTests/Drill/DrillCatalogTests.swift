import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct DrillCatalogTests {
    @Test func everyDrillHasItsOwnName() {
        let names = DrillCatalog.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0 != "all" && $0 != "short" })
    }

    @Test func theShortSetNeedsNothingOfTheMachine() throws {
        let short = try DrillCatalog.drills(for: "short")
        #expect(!short.isEmpty)
        for drill in short {
            #expect(drill.needs.allSatisfy { $0 == .simulator || $0 == .crashPoints }, "\(drill.name)")
        }
    }

    /// Sets omit drills that cannot run at all, but not those for which the machine lacks something.
    @Test func onlyWhatIsImpossibleIsLeftOut() throws {
        let crash = try DrillCatalog.drill(named: "crash-points")
        #expect(DrillCatalog.impossibility(crash, hasSimulator: true, hasCrashPoints: true) == nil)
        #expect(DrillCatalog.impossibility(crash, hasSimulator: true, hasCrashPoints: false) != nil)
        let gateway = try DrillCatalog.drill(named: "gateway-reset")
        #expect(DrillCatalog.impossibility(gateway, hasSimulator: false, hasCrashPoints: true) != nil)
        let disk = try DrillCatalog.drill(named: "disk-full")
        #expect(DrillCatalog.impossibility(disk, hasSimulator: true, hasCrashPoints: false) == nil)
    }

    @Test func aSeedThatIsNoNumberForEveryReaderIsRefused() async throws {
        let run = try await Program.lab().run(["drill", "run", "short", "--seed", String(UInt64.max)])
        #expect(run.status == 64)
        #expect(run.errors.contains("--seed"))
    }

    @Test func theListNamesWhatEachDrillPromises() async throws {
        let list = try await Program.lab().run(["drill", "list", "--json"])
        #expect(list.status == 0, "\(list.errors)")
        let rows = try list.rows()
        #expect(rows.compactMap { $0["drill"] as? String } == DrillCatalog.all.map(\.name))
        #expect(rows.allSatisfy { ($0["must_end_with"] as? String)?.isEmpty == false })
    }

    @Test func anUnknownDrillIsRefusedWithTheNamesThereAre() async throws {
        let run = try await Program.lab().run(["drill", "run", "kill-everything"])
        #expect(run.status == 65)
        #expect(run.errors.contains("kill-children"))
        #expect(run.output.isEmpty)
    }

    @Test func anotherGatewayIsNamedWhole() async throws {
        let run = try await Program.lab().run(["drill", "run", "short", "--apns", "127.0.0.1:1"])
        #expect(run.status == 64)
        #expect(run.errors.contains("--record"))
    }
}
