import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Circuit breaker of an application")
struct CircuitTests {
    private static let application: Int32 = 1
    private static let account: Int32 = 1

    private func open(_ store: Store, held: Bool = false) async throws {
        try await store.openCircuit(
            application: Self.application,
            account: Self.account,
            reason: "InvalidProviderToken",
            remedy: "set another key",
            holdsTokenEffects: held
        )
    }

    private func due(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.application_health SET next_probe_at = now() - interval '1 ms'")
    }

    /// Seconds from the last change to the next probe.
    private func pause(_ fixture: StoreFixture) async throws -> Int64 {
        try required(
            try await fixture.sql(
                "SELECT extract(epoch FROM next_probe_at - changed_at)::bigint FROM pushmta_engine.application_health"
            )
        )
    }

    private func health(_ fixture: StoreFixture) async throws -> ApplicationHealthRow {
        try required(try await fixture.store.applicationHealth().first)
    }

    @Test("While it is open nothing is claimed or ready, except one part for a due probe")
    func closedDoor() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let child = try await fixture.child()
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) == nil, "it is closed")
        try await open(fixture.store)
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.store.readyWork().isEmpty)
        #expect(try await fixture.store.childKinds().map(\.applicationID) == [2])
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) == nil, "it is not due")
        try await due(fixture)
        #expect(try await fixture.store.readyWork().map(\.readyParts) == [1])
        let probe = try required(try await fixture.store.claimProbe(application: 1, account: 1, child: child))
        #expect(probe.isProbe && probe.fencingToken == 1 && probe.deliveryState == .inProgress)
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) == nil, "one prober")
        #expect(try await fixture.store.readyWork().isEmpty)
        let state = try await fixture.store.sendingState(application: 1, account: 1, deliveries: [])
        #expect(state.circuit == .probing && state.isCircuitOpen)
        try await fixture.store.closeCircuit(application: 1)
        #expect(try await fixture.store.applicationHealth().allSatisfy { $0.state == .closed && $0.reason.isEmpty })
        #expect(try await fixture.claim(limit: 9).count == 2)
    }

    @Test("Each failed probe doubles the pause, up to 300 s, however many children report it")
    func intervals() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 600, partSize: 20)
        let child = try await fixture.child()
        try await open(fixture.store)
        var pauses: [Int64] = []
        for _ in 0..<8 {
            try await open(fixture.other)
            pauses.append(try await pause(fixture))
            try await due(fixture)
            #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) != nil)
            try await open(fixture.store)
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300])
        #expect(try await health(fixture).probes == 8)
    }

    @Test("A due probe that fails before a part is claimed counts as well; a lost prober is replaced")
    func dueAndLost() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let child = try await fixture.child()
        try await open(fixture.store)
        try await due(fixture)
        try await open(fixture.store)
        let counted = try await health(fixture)
        #expect(counted.probes == 1 && counted.state == .open && (counted.nextProbeInSeconds ?? 0) > 0)
        #expect(try await pause(fixture) == 10)
        try await due(fixture)
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) != nil)
        #expect(try await pause(fixture) == 20)
        try await due(fixture)
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: child) != nil)
    }

    @Test("A part whose probe failed comes after the others")
    func probesInTurn() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET priority = CASE WHEN id = 1 THEN 2 ELSE 0 END")
        try await open(fixture.store)
        var probed: [Int64] = []
        for _ in 0..<6 {
            try await due(fixture)
            let child = try await fixture.child()
            let probe = try required(
                try await fixture.store.claimProbe(application: 1, account: 1, child: child)
            )
            probed.append(probe.id)
            #expect(
                try await fixture.store.releasePart(PartToken(part: probe.id, token: probe.fencingToken))
            )
            try await open(fixture.store)
        }
        #expect(probed.first == 1 && Set(probed.prefix(3)).count == 3 && Set(probed.suffix(3)).count == 3, "\(probed)")
    }

    @Test("Deliveries take turns with probes, also if the circuit is closed in between")
    func probesOfDeliveriesInTurn() async throws {
        let (fixture, first) = try await StoreFixture.prepared(messages: 4_000, partSize: 20)
        var ids = [first]
        for _ in 0..<2 {
            ids.append(try await fixture.startedDelivery())
            try await fixture.prepare(partSize: 2_000)
        }
        // The first one has far more parts than are examined, and comes before the others.
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET priority = 9 WHERE delivery_id = \(first)")
        var probed: [Int64] = []
        for turn in 0..<6 {
            try await open(fixture.store)
            try await due(fixture)
            let child = try await fixture.child()
            let probe = try required(try await fixture.store.claimProbe(application: 1, account: 1, child: child))
            probed.append(probe.deliveryID)
            #expect(try await fixture.store.releasePart(PartToken(part: probe.id, token: probe.fencingToken)))
            // When an operator resumes the application, it must not begin with the same one again.
            if turn % 2 == 1 { try await fixture.store.closeCircuit(application: 1) }
        }
        #expect(probed == ids + ids, "\(probed)")
        try await fixture.store.pauseDelivery(ids[0])
        try await fixture.store.pauseDelivery(ids[2])
        try await open(fixture.store)
        try await due(fixture)
        let child = try await fixture.child()
        let probe = try required(try await fixture.store.claimProbe(application: 1, account: 1, child: child))
        #expect(probe.deliveryID == ids[1])
    }

    @Test("Refusals that an operator believes are not believed in parts that were held at that time")
    func believedWhileHeld() async throws {
        let (fixture, id) = try await StoreFixture.analysed(messages: 20)
        try await open(fixture.store, held: true)
        #expect(try await fixture.store.resumeApplication(named: "shop-ios", believingRefusals: true).wasOpen)
        try await fixture.store.startDelivery(id)
        let part = try required(try await fixture.claim().first)
        #expect(!part.believesRefusals)
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        try await open(fixture.store, held: true)
        #expect(try await fixture.store.resumeApplication(named: "shop-ios", believingRefusals: true).wasOpen)
        #expect(try required(try await fixture.claim().first).believesRefusals)
    }

    @Test("Refusals that an operator believes are believed in existing parts, not in later ones")
    func believed() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await open(fixture.store, held: true)
        #expect(try await fixture.store.resumeApplication(named: "shop-ios").wasOpen)
        let first = try required(try await fixture.claim().first)
        #expect(!first.believesRefusals)
        #expect(try await fixture.store.releasePart(PartToken(part: first.id, token: first.fencingToken)))
        #expect(
            try await !fixture.store.resumeApplication(named: "shop-ios", believingRefusals: true).wasOpen,
            "nothing to end"
        )
        let second = try required(try await fixture.claim().first)
        #expect(!second.believesRefusals)
        try await open(fixture.store, held: true)
        #expect(try await fixture.store.resumeApplication(named: "shop-ios", believingRefusals: true).wasOpen)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        let parts = try await fixture.claim(limit: 9).sorted { $0.id < $1.id }
        #expect(parts.map(\.believesRefusals) == [true, true, false])
        // Their reports about tokens are no longer void.
        let loaded = try await fixture.store.loadPart(parts[0], fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(
            part: parts[0].id,
            token: parts[0].fencingToken,
            sequence: loaded.sequences[0],
            subscriptionID: loaded.subscriptionIDs[0],
            status: .failed,
            httpStatus: 400,
            reason: "BadDeviceToken",
            tokenEffect: .invalid(sinceMilliseconds: nil)
        )
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE NOT enabled") == 1)
    }

    @Test("Without a part there is no probe, and nothing is counted")
    func nothingToProbe() async throws {
        let fixture = try await StoreFixture.make()
        try await open(fixture.store)
        try await due(fixture)
        #expect(try await fixture.store.claimProbe(application: 1, account: 1, child: try await fixture.child()) == nil)
        let row = try await health(fixture)
        #expect(row.state == .open && row.probes == 0)
    }

    @Test("If two children want the due probe, one gets it", .timeLimit(.minutes(2)))
    func race() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 600, partSize: 20)
        try await open(fixture.store)
        let children = [try await fixture.child(), try await fixture.child()]
        for _ in 0..<10 {
            try await due(fixture)
            async let one = fixture.store.claimProbe(application: 1, account: 1, child: children[0])
            async let two = fixture.other.claimProbe(application: 1, account: 1, child: children[1])
            let won = try await [one, two].compactMap { $0 }
            #expect(won.count == 1)
        }
        #expect(try await health(fixture).probes == 10)
    }

    @Test("Transient trouble is shown, but neither opens the circuit nor hides why it is open")
    func trouble() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let store = fixture.store
        try await store.showTrouble(application: 1, reason: "", remedy: "")
        #expect(try await store.applicationHealth().isEmpty)
        try await store.showTrouble(application: 1, account: 1, reason: "unreachable", remedy: "wait")
        #expect(try await health(fixture).reason == "unreachable")
        #expect(try await store.sendingState(application: 1, account: 1, deliveries: []).circuit == .closed)
        #expect(try await fixture.claim().count == 1)
        try await open(store)
        try await store.showTrouble(application: 1, reason: "unreachable", remedy: "wait")
        try await store.showTrouble(application: 1, reason: "", remedy: "")
        let row = try await health(fixture)
        #expect(row.reason == "InvalidProviderToken" && row.remedy == "set another key" && row.openedAt != nil)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta.application WHERE circuit = 'open' AND circuit_reason <> ''"
            ) == 1
        )
        #expect(try await store.resumeApplication(named: "shop-ios").wasOpen)
        #expect(try await store.resumeApplication(named: "shop-ios").wasOpen == false)
        await #expect { try await store.resumeApplication(named: "shop") } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
        try await store.showTrouble(application: 1, reason: "unreachable", remedy: "wait")
        try await store.showTrouble(application: 1, reason: "", remedy: "")
        #expect(try await health(fixture).reason == "")
    }

    @Test("Listeners are notified when a circuit is closed or a delivery is controlled")
    func wakeUp() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await open(fixture.store)
        let listener = try await fixture.store.listen()
        try await fixture.store.closeCircuit(application: 1)
        #expect(try await listener.next(deadline: .now + .seconds(20)))
        try await fixture.store.closeCircuit(application: 1)
        try await fixture.store.pauseDelivery(id)
        #expect(try await listener.next(deadline: .now + .seconds(20)))
        #expect(try await listener.next(deadline: .now) == false, "a circuit that was closed says nothing")
        await listener.close()
    }

    @Test("An older program's open circuit counts as transient trouble")
    func olderProgram() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await fixture.sql(
            "INSERT INTO pushmta_engine.application_health (application_id, state, reason) VALUES (1, 'open', 'unreachable')"
        )
        #expect(try await health(fixture).state == .closed)
        #expect(try await fixture.claim().count == 1)
        try await open(fixture.store)
        #expect(try await health(fixture).state == .open)
        #expect(try await fixture.claim().isEmpty)
    }
}
