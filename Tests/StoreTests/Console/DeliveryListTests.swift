import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Lists of deliveries: search, sort, archive, compare")
struct DeliveryListTests {
    private func made(_ fixture: StoreFixture, _ label: String) async throws -> Int64 {
        try await fixture.store.createDelivery(
            NewDelivery(label: label, applications: ["shop-ios"], content: #"{"ios": {"title": "Hi"}}"#)
        )
    }

    /// A delivery that has ended, with counts.
    private func ended(_ fixture: StoreFixture, _ label: String, target: Int64, sent: Int64, clicked: Int64)
        async throws -> Int64
    {
        let id = try await made(fixture, label)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET state = 'finished', log_day = current_date, started_at = now(), finished_at = now(),
                prepared = true, target = \(target) WHERE id = \(id)
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_sum (delivery_id, parts, made, sent) VALUES (\(id), 1, \(target), \(sent))
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_statistic
                (delivery_id, hour, n, application_id, measure, failure, app_version, locale, reason)
            SELECT \(id), date_trunc('hour', now()), v.n, 1, v.measure, -1, '', '', ''
            FROM (VALUES (\(sent), 1), (\(clicked), 21)) v(n, measure) WHERE v.n > 0
            """
        )
        return id
    }

    private func listed(_ fixture: StoreFixture, _ change: (inout DeliveryFilter) -> Void = { _ in }) async throws
        -> [Int64]
    {
        var filter = DeliveryFilter()
        change(&filter)
        return try await fixture.store.deliveryPage(filter, maxRows: 25).rows.map(\.progress.id)
    }

    /// Calls a function of the contract.
    private func call(_ fixture: StoreFixture, _ call: String) async throws {
        try await fixture.sql("DO $$ BEGIN PERFORM pushmta.\(call); END $$")
    }

    /// The seed address ada.
    private func seed(_ fixture: StoreFixture) async throws {
        try await call(
            fixture,
            "add_seed(name => 'ada', application => 'shop-ios', push_token => repeat('ab', 32))"
        )
    }

    /// The SQLSTATE of a refusal; nil if there was none.
    private func refusal(_ act: () async throws -> Void) async throws -> String? {
        do {
            try await act()
            return nil
        } catch let error as StoreError { return error.sqlState }
    }

    @Test("Only what has ended is archived; lists leave it out, and nothing else changes")
    func archived() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await made(fixture, "Sale")
        #expect(try await refusal { try await fixture.store.archiveDelivery(id) } == "PM008")
        #expect(try await refusal { try await fixture.store.archiveDelivery(999) } == "PM002")
        try await fixture.store.startDelivery(id)
        #expect(try await refusal { try await fixture.store.archiveDelivery(id) } == "PM008")
        let over = try await ended(fixture, "Over", target: 10, sent: 9, clicked: 3)
        #expect(try await fixture.store.archiveDelivery(over))
        #expect(try await !fixture.store.archiveDelivery(over), "it is archived already")
        #expect(try await listed(fixture) == [id])
        #expect(try await listed(fixture) { $0.isArchived = true } == [over])
        #expect(try await fixture.store.deliveries(withArchived: false).map(\.id) == [id])
        let progress = try await fixture.store.deliveryProgress(over)
        #expect(progress.state == .finished && progress.sent == 9 && progress.archivedAt != nil)
        #expect(try await fixture.store.archiveDelivery(over, false))
        #expect(try await listed(fixture) == [over, id])
        #expect(try await fixture.store.deliveryProgress(over).archivedAt == nil)
        let log = """
            SELECT count(*) FROM pushmta_engine.audit_log
            WHERE subject = '\(over)' AND action IN ('delivery.archive', 'delivery.unarchive')
            """
        #expect(try await fixture.sql(log) == 2)
    }

    @Test("A user of the console archives several at once; what has not ended stays")
    func several() async throws {
        let fixture = try await StoreFixture.make()
        let open = try await made(fixture, "Open")
        var over: [Int64] = []
        for label in ["a", "b"] {
            over.append(try await ended(fixture, label, target: 1, sent: 1, clicked: 0))
        }
        let actor = try await fixture.actor(.marketing)
        #expect(try await fixture.store.archive(deliveries: over + [open, 999], true, by: actor) == 2)
        #expect(try await fixture.store.archive(deliveries: over, true, by: actor) == 0)
        #expect(try await listed(fixture) == [open])
        #expect(try await fixture.store.archive(deliveries: over, false, by: actor) == 2)
        func logged(_ condition: String) async throws -> Int64? {
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.audit_log
                WHERE action IN ('delivery.archive', 'delivery.unarchive') AND \(condition)
                """
            )
        }
        #expect(try await logged("who = 'marketing'") == 4)
        #expect(try await logged("who <> 'marketing'") == 0)
        let reader = try await fixture.actor(.read)
        #expect(
            try await refusal { _ = try await fixture.store.archive(deliveries: over, true, by: reader) } == "PM091"
        )
    }

    @Test("Each filter selects what it says, alone and with others")
    func filters() async throws {
        let fixture = try await StoreFixture.make()
        try await call(fixture, "set_category('shop', 'offers')")
        try await call(fixture, "create_exclusion_list('complaints')")
        try await seed(fixture)
        let plain = try await made(fixture, "Plain 100%")
        let rich = try await made(fixture, "Rich_1000")
        try await call(fixture, "update_delivery(\(rich), category => 'offers', exclude => '{complaints}')")
        try await call(fixture, "set_seeds(\(rich), '{ada}')")
        try await fixture.sql("INSERT INTO pushmta_engine.delivery_maker VALUES (\(rich), 'console', 'mia')")
        try await fixture.sql("UPDATE pushmta_engine.delivery SET start_at = '2020-03-31 22:30+00' WHERE id = \(rich)")
        let changes: [(inout DeliveryFilter) -> Void] = [
            { $0.category = "offers" }, { $0.exclusionList = "complaints" }, { $0.seed = "ada" },
            { $0.author = "mia" }, { $0.text = "rich_1" }, { $0.until = "2020-04-01" },
            { ($0.since, $0.until) = ("2020-03-31", "2020-03-31") },
            {
                ($0.category, $0.author, $0.seed, $0.service) = ("offers", "mia", "ada", "shop")
                ($0.state, $0.application, $0.text) = (.editing, "shop-ios", "rich")
            },
        ]
        for (place, change) in changes.enumerated() {
            #expect(try await listed(fixture, change) == [rich], "filter \(place)")
        }
        // A sign of LIKE is an ordinary character.
        #expect(try await listed(fixture) { $0.text = "100%" } == [plain])
        #expect(try await listed(fixture) { $0.text = "h_1" } == [rich])
        #expect(try await listed(fixture) { $0.service = "shop" } == [plain, rich])
        for change: (inout DeliveryFilter) -> Void in [
            { $0.category = "none" }, { $0.author = "mi" }, { $0.seed = "bob" }, { $0.service = "none" },
            { ($0.since, $0.until) = ("2020-04-01", "2020-04-01") }, { $0.state = .stopped },
        ] {
            #expect(try await listed(fixture, change) == [])
        }
        // The days are those of the service.
        try await fixture.sql("UPDATE pushmta_engine.service SET time_zone = 'Europe/Berlin'")
        #expect(try await listed(fixture) { ($0.since, $0.until) = ("2020-04-01", "2020-04-01") } == [rich])
        let row = try required(try await fixture.store.deliveryPage(DeliveryFilter(), maxRows: 25).rows.last)
        #expect(row.localTime == "2020-04-01T00:30" && row.zone == "Europe/Berlin")
    }

    @Test("Sorted by a number, pages go on by value and id")
    func sorted() async throws {
        let fixture = try await StoreFixture.make()
        var ids: [Int64] = []
        for (sent, clicked): (Int64, Int64) in [(100, 10), (300, 3), (200, 100), (100, 10), (0, 0)] {
            ids.append(try await ended(fixture, "\(ids.count)", target: 400, sent: sent, clicked: clicked))
        }
        func order(_ sort: DeliveryFilter.Sort) async throws -> [Int64] {
            var filter = DeliveryFilter()
            filter.sort = sort
            var seen: [Int64] = []
            repeat {
                let page = try await fixture.store.deliveryPage(filter, maxRows: 2)
                #expect(page.rows.count <= 2 && !page.isCut)
                seen += page.rows.map(\.progress.id)
                filter.after = page.next
            } while filter.after != nil && seen.count < 10
            return seen
        }
        #expect(try await order(.date) == Array(ids.reversed()))
        #expect(try await order(.sent) == [ids[1], ids[2], ids[3], ids[0], ids[4]])
        #expect(try await order(.clickRate) == [ids[2], ids[3], ids[0], ids[1], ids[4]])
    }

    /// The numbers are Newcombe's example (1998): 56 of 70 and 48 of 80.
    @Test("A comparison has the interval of the difference")
    func compared() async throws {
        let fixture = try await StoreFixture.make()
        let first = try await ended(fixture, "a", target: 80, sent: 80, clicked: 48)
        let second = try await ended(fixture, "b", target: 100, sent: 70, clicked: 56)
        let rows = try await fixture.store.compareDeliveries(first, second)
        #expect(rows.map(\.measure) == DeliveryComparison.Measure.allCases)
        let clicked = try required(rows.last)
        #expect(clicked.first.count == 48 && clicked.first.whole == 80 && clicked.second.rate == 0.8)
        let ends = [try required(clicked.difference), try required(clicked.low), try required(clicked.high)]
        for (value, right) in zip(ends, [0.2, 0.0524, 0.3339]) { #expect(abs(value - right) < 0.0001, "\(ends)") }
        #expect(clicked.isClear && !rows[1].isClear && rows[2].difference == 0)
        let same = try await fixture.store.compareDeliveries(first, first)
        #expect(same.count == 4 && same.allSatisfy { !$0.isClear && $0.difference == 0 })
        let empty = try await made(fixture, "empty")
        #expect(try await fixture.store.compareDeliveries(first, empty).allSatisfy { $0.difference == nil })
        #expect(try await refusal { _ = try await fixture.store.compareDeliveries(first, 999) } == "PM002")
    }

    @Test("A copy names the seed addresses of the original, and is not archived")
    func copied() async throws {
        let fixture = try await StoreFixture.make()
        try await seed(fixture)
        let id = try await ended(fixture, "a", target: 1, sent: 1, clicked: 0)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET seed_names = '{ada}' WHERE id = \(id)")
        try await fixture.store.archiveDelivery(id)
        let copy = try await fixture.store.copyDelivery(id)
        let found = """
            SELECT count(*) FROM pushmta_engine.delivery
            WHERE id = \(copy) AND seed_names = '{ada}' AND archived_at IS NULL AND state = 'editing'
            """
        #expect(try await fixture.sql(found) == 1)
        try await call(fixture, "set_seeds(\(copy), NULL)")
        let all = try await fixture.store.copyDelivery(copy)
        let every = "SELECT count(*) FROM pushmta_engine.delivery WHERE id = \(all) AND seed_names IS NULL"
        #expect(try await fixture.sql(every) == 1)
    }
}
