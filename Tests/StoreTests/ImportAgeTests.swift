import Content
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// What an import does to existing data: a file without a value changes nothing.
@Suite("Imports of old files")
struct ImportAgeTests {
    private static let token = String(repeating: "0a", count: 32)
    private static let past = DatabaseTime(microsecondsSince1970: 1_700_000_000_000_000)

    private static func row(_ user: String? = nil, at time: DatabaseTime? = nil, token: String = token) -> ImportRow {
        ImportRow(line: 2, pushToken: token, userKey: user, registeredAt: time)
    }

    @discardableResult
    private func run(
        _ fixture: StoreFixture,
        _ rows: [ImportRow],
        age: ImportAge? = nil,
        bringsBack: Set<ImportState> = [],
        isDryRun: Bool = false,
        batches: Int = 1
    ) async throws -> ImportReport {
        var options = ImportOptions()
        options.age = age
        options.bringsBack = bringsBack
        options.isDryRun = isDryRun
        return try await fixture.store.importSubscriptions(
            application: "shop-ios",
            rows: AsyncStream { continuation in
                let size = max(1, rows.count / batches)
                for start in stride(from: 0, to: rows.count, by: size) {
                    continuation.yield(Array(rows[start..<min(start + size, rows.count)]))
                }
                continuation.finish()
            },
            options: options
        )
    }

    /// The token, user, locale, opt-out and enabled state of all rows, in order.
    private func state(_ fixture: StoreFixture) async throws -> String {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        let sql = """
            SELECT coalesce(string_agg(concat_ws(' ', nullif(s.user_key, ''), nullif(s.locale, ''),
                CASE WHEN s.opted_out THEN 'out' END, CASE WHEN s.quarantine_status > 1 THEN 'q' || s.quarantine_status END,
                CASE WHEN s.enabled THEN 'on' ELSE s.disabled_reason END), ', ' ORDER BY s.id), '')
            FROM pushmta_engine.subscription s
            """
        return try await connection.execute(PostgresStatement(sql, prepare: false)).text(0, 0)
    }

    private func register(_ fixture: StoreFixture, _ user: String, locale: String = "") async throws {
        var form = FormParameters()
        try form.read(
            Array("registrationToken=\(Self.token)&mobileAppUuid=k&userKey=\(user)&osLanguage=\(locale)".utf8)
        )
        let registration = try DeviceRegistration(form, platform: .ios)
        _ = try await fixture.store.register([
            PlacedRegistration(registration, application: 1, declarations: ApplicationDeclarations())
        ])
    }

    @Test("A token that belongs to another person by now stays theirs, whatever an older file says")
    func theDatabaseKnowsLater() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "ben")
        #expect(try await run(fixture, [Self.row("ada")]).kept == [.known: 1])
        #expect(try await run(fixture, [Self.row("ada", at: Self.past)]).kept == [.older: 1])
        #expect(try await run(fixture, [Self.row("ada")], age: .at(Self.past)).kept == [.older: 1])
        #expect(try await state(fixture) == "ben on")
        #expect(try await run(fixture, [Self.row("ada")], age: .now).moved == 1)
        #expect(try await state(fixture) == "ben token_moved, ada on")
    }

    @Test("A line's own time takes precedence over the file's, and no time is in the future")
    func times() async throws {
        let fixture = try await StoreFixture.make()
        try await register(fixture, "ben")
        #expect(try await run(fixture, [Self.row("ada", at: Self.past)], age: .now).kept == [.older: 1])
        let future = DatabaseTime(microsecondsSince1970: 4_000_000_000_000_000)
        await #expect(throws: StoreError.self) { try await run(fixture, [Self.row("ada", at: future)]) }
        await #expect(throws: StoreError.self) { try await run(fixture, [Self.row("ada")], age: .at(future)) }
        #expect(try await state(fixture) == "ben on")
    }

    @Test("A value without a column stays, and an empty cell clears its field")
    func absentIsNotEmpty() async throws {
        let fixture = try await StoreFixture.make()
        var full = Self.row("ada")
        full.locale = "fr"
        full.timeZone = "Europe/Paris"
        full.recipient = ["name": "Ada", "city": "Lyon"]
        full.parameters = ["tier": "gold"]
        try await run(fixture, [full])
        var part = Self.row()
        part.recipient = ["city": "", "street": "Rue 1"]
        #expect(try await run(fixture, [part], age: .now).updated == 1)
        #expect(try await state(fixture) == "ada fr on")
        let row = try required(try await fixture.store.subscriptions().first)
        #expect(row.recipient == #"{"name": "Ada", "street": "Rue 1"}"# && row.parameters == #"{"tier": "gold"}"#)
        part.locale = ""
        part.recipient = ["name": "", "street": ""]
        part.parameters = ["tier": ""]
        #expect(try await run(fixture, [part], age: .now).updated == 1)
        #expect(try await state(fixture) == "ada on")
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE recipient IS NULL AND parameters IS NULL AND time_zone <> ''"
            ) == 1
        )
    }

    @Test(
        "A disabled token is enabled only on request",
        arguments: [
            ("enabled = false, disabled_reason = 'token_renewed'", ImportState.renewed),
            ("enabled = false, disabled_reason = 'token_replaced'", .renewed),
            ("enabled = false, disabled_reason = 'token_moved'", .moved),
            ("enabled = false, disabled_reason = 'unregistered'", .unregistered),
            ("enabled = false, disabled_reason = 'token_invalid', quarantine_status = 2", .quarantined),
            ("quarantine_status = 2", .quarantined), ("quarantine_status = 3", .denylisted),
            ("opted_out = true", .optedOut), ("enabled = false", .disabled),
        ]
    )
    func states(_ change: String, _ state: ImportState) async throws {
        let fixture = try await StoreFixture.make()
        try await run(fixture, [Self.row("ada")])
        try await fixture.sql("UPDATE pushmta_engine.subscription SET \(change)")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET disabled_at = now() WHERE NOT enabled")
        for user in ["ada", nil] {
            let report = try await run(fixture, [Self.row(user)], age: .now)
            #expect(report.kept == [.state(state): 1] && report.keptLines.map(\.line) == [2])
        }
        let others = Set(ImportState.allCases).subtracting([state])
        #expect(try await run(fixture, [Self.row("ada")], age: .now, bringsBack: others).kept == [.state(state): 1])
        // A line without a time is not newer than anything.
        #expect(try await run(fixture, [Self.row("ada")], bringsBack: [state]).kept == [.known: 1])
        #expect(try await run(fixture, [Self.row("ada")], age: .now, bringsBack: [state]).returned == [state: 1])
        #expect(try await self.state(fixture) == "ada on")
    }

    @Test("A file does not opt in a person who opted out after it was written")
    func laterOptOut() async throws {
        let fixture = try await StoreFixture.make()
        try await run(fixture, [Self.row("ada", at: Self.past)])
        let written = DatabaseTime(
            microsecondsSince1970: try required(
                try await fixture.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
            )
        )
        let optOut = "SELECT pushmta.set_opt_out(min(id), true) FROM pushmta_engine.subscription"
        try await fixture.sql("SELECT count(*) FROM (\(optOut)) x")
        let report = try await run(fixture, [Self.row("ada", at: written)], bringsBack: [.optedOut])
        #expect(report.kept == [.older: 1])
        #expect(try await state(fixture) == "ada out on")
        let later = try await run(fixture, [Self.row("ada")], age: .now, bringsBack: [.optedOut])
        #expect(later.returned == [.optedOut: 1])
        #expect(try await state(fixture) == "ada on")
    }

    @Test("An opt-out, a quarantine and the denylist stay when a file gives the token to another user")
    func consentSurvives() async throws {
        for (change, end) in [
            ("opted_out = true", "ada out token_moved, ben out on"),
            ("quarantine_status = 2", "ada q2 token_moved, ben q2 on"),
            ("quarantine_status = 3", "ada q3 token_moved, ben q3 on"),
        ] {
            let fixture = try await StoreFixture.make()
            try await run(fixture, [Self.row("ada")])
            try await fixture.sql("UPDATE pushmta_engine.subscription SET \(change)")
            let report = try await run(fixture, [Self.row("ben")], age: .now)
            #expect(report.moved == 1 && report.movedInState.values.reduce(0, +) == 1)
            #expect(try await state(fixture) == end)
            // And back to the first user, whose row is older.
            #expect(try await run(fixture, [Self.row("ada")], age: .now).moved == 1)
            #expect(
                try await state(fixture)
                    == end.replacing("token_moved", with: "x").replacing("on", with: "token_moved").replacing(
                        "x",
                        with: "on"
                    )
            )
        }
    }

    @Test("A file's new token does not opt in a user who opted out of everything")
    func consentOfAUserSurvives() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql("SELECT pushmta.set_user_opt_out('shop', 'ada', true)")
        let second = String(repeating: "0b", count: 32)
        try await run(fixture, [Self.row("ada"), Self.row("ben", token: second)])
        #expect(try await state(fixture) == "ada out on, ben on")
        // Restoring the state of ben's token does not affect ada.
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE user_key = 'ben'")
        try await run(fixture, [Self.row("ada", token: second)], age: .now, bringsBack: [.optedOut])
        #expect(try await state(fixture) == "ada out on, ben out token_moved, ada out on")
    }

    @Test("A filter finds a locale by each of its forms")
    func localesInFilters() async throws {
        let fixture = try await StoreFixture.make()
        let rows = ["zh-CN-#Hans", "iw_IL", "fr-CA", "no"].enumerated().map { place, locale in
            ImportRow(line: place + 2, pushToken: String(repeating: "0\(place)", count: 32), locale: locale)
        }
        try await run(fixture, rows)
        for (filter, count) in [
            ("locale = 'zh-CN'", 1), ("locale in ('he-IL', 'nb', 'in')", 2), ("locale starts with 'iw'", 1),
            ("locale != 'fr_CA'", 3),
            ("locale starts with 'zh-CN'", 1), ("locale = 'zh-TW'", 0), ("locale < 'FR'", 0),
        ] as [(String, Int64)] {
            _ = try await fixture.filteredDelivery(filter)
            #expect(try await fixture.prepare().messages == count, "\(filter)")
        }
    }

    @Test("A person excluded or targeted in SQL is found in whatever form the key is written")
    func keysInSQL() async throws {
        let fixture = try await StoreFixture.make()
        for key in ["u1", " u1", "u1\u{A0}", "\u{FEFF}u1\t", "\u{2003}é u\u{200B}", "\u{1F600}", "a b"] {
            let connection = try await fixture.database.connect()
            let statement = PostgresStatement("SELECT pushmta_engine.trimmed($1)", [.text(key)], prepare: false)
            #expect(try await connection.execute(statement).text(0, 0) == KeyText.trimmed(key))
            await connection.close()
        }
        try await fixture.sql("SELECT pushmta.create_exclusion_list('nobody')")
        #expect(try await fixture.sql("SELECT pushmta.add_exclusions('nobody', ARRAY[E' u1\\u00A0', 'u1'])") == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.exclusion_entry WHERE user_key = 'u1'") == 1)
        #expect(try await fixture.sql("SELECT pushmta.remove_exclusions('nobody', ARRAY[E'u1\\u00A0'])") == 1)
    }

    @Test("A number changed by a spreadsheet, or a word such as null, matches no one, so SQL refuses it like files do")
    func shortenedNumbersInSQL() async throws {
        let fixture = try await StoreFixture.make()
        let delivery = try await fixture.store.createDelivery(
            NewDelivery(
                label: "x",
                applications: ["shop-ios"],
                content: #"{"ios":{"title":"Hello"}}"#,
                explicitTargets: true
            )
        )
        try await fixture.sql("SELECT pushmta.create_exclusion_list('nobody')")
        for statement in [
            "SELECT pushmta.add_exclusions('nobody', ARRAY['u1', $])",
            "INSERT INTO pushmta.delivery_target (delivery_id, user_key) VALUES (\(delivery), $)",
            "INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(delivery), $)",
        ] {
            for key in [
                "1.23457E+11", "1E+15", "4,5e+12", "-1.2E11", "12.0", "NULL", "(null)", "Undefined", "#N/A", "<null>",
                "NaN",
            ] {
                await #expect {
                    try await fixture.sql(statement.replacing("$", with: "'\(key)'"))
                } throws: {
                    ($0 as? PostgresError)?.sqlState == "PM007"
                }
            }
            for key in ["1e5", "1.5", "nora", "10.01", "#1"] {
                try await fixture.sql(statement.replacing("$", with: "'\(key)'"))
            }
        }
    }

    @Test("Only the line of a row that an open transaction locks is skipped, and reported with its number")
    func heldRow() async throws {
        let fixture = try await StoreFixture.make()
        let rows = (1...3).map {
            ImportRow(line: $0 + 1, pushToken: String(repeating: "0\($0)", count: 32), userKey: "u")
        }
        _ = try await run(fixture, rows)
        let holder = try await fixture.hold("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id = 2")
        let report = try await run(
            fixture,
            rows + [ImportRow(line: 5, pushToken: String(repeating: "04", count: 32), userKey: "u")],
            age: .now
        )
        #expect(report.updated == 2 && report.created == 1 && report.skipped == 1 && report.lines == 4)
        #expect(report.problems.map(\.line) == [3], "\(report.problems)")
        try await holder.run(script: "COMMIT")
        await holder.close()
        let again = try await run(fixture, rows, age: .now)
        #expect(again.kept[.state(.optedOut)] == 1 && again.updated == 2)
    }

    @Test("A dry run reports the same and changes nothing")
    func dryRun() async throws {
        let fixture = try await StoreFixture.make()
        try await run(fixture, [Self.row("ada")])
        let other = String(repeating: "0b", count: 32)
        let rows = [Self.row("ben"), Self.row("cleo", token: other)]
        let planned = try await run(fixture, rows, age: .now, isDryRun: true)
        #expect(planned.moved == 1 && planned.created == 1 && planned.id == nil)
        #expect(try await state(fixture) == "ada on")
        #expect(try await fixture.store.imports().count == 1)
        let done = try await run(fixture, rows, age: .now)
        #expect(done.moved == planned.moved && done.created == planned.created)
    }

    @Test(
        "A token's latest line counts, or its last line if there are no times, in one batch or several",
        arguments: [1, 3]
    )
    func lastLine(_ batches: Int) async throws {
        let fixture = try await StoreFixture.make()
        let later = DatabaseTime(microsecondsSince1970: 1_750_000_000_000_000)
        let cases: [(times: [DatabaseTime?], winner: String, moves: Int)] = [
            ([nil, nil, nil], "ben", 2), ([nil, later, nil], "cleo", 1), ([later, later, Self.past], "cleo", 1),
            ([later, Self.past, nil], "ada", 0), ([Self.past, later, later], "ben", 2),
        ]
        for (times, winner, moves) in cases {
            var rows = zip(["ada", "cleo", "ben"], times).map { Self.row($0, at: $1) }
            for place in rows.indices { rows[place].locale = "de" }
            let report = try await run(fixture, rows, batches: batches)
            #expect(report.created == 1 && report.lines == 3)
            #expect(batches == 1 ? report.replaced == 2 : report.moved == moves)
            #expect(try await state(fixture).hasSuffix("\(winner) de on"), "\(times)")
            let undone = try await fixture.store.undoImport(try required(report.id))
            #expect(undone.removed == (batches == 1 ? 1 : moves + 1) && undone.left == 0)
            #expect(try await state(fixture) == "")
        }
        // Back to the first user, and the same once more.
        let report = try await run(fixture, ["ada", "ben", "ada"].map { Self.row($0) }, batches: batches)
        #expect(report.created == 1 && report.lines == 3)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE user_key = 'ada' AND enabled"
            ) == 1
        )
    }

    @Test("A token's first registration stays known, although a line with a time has moved it")
    func lastLineOfKnown() async throws {
        let fixture = try await StoreFixture.make()
        try await run(fixture, [Self.row("ada")])
        let report = try await run(fixture, [Self.row("ben"), Self.row("cleo")], batches: 2)
        #expect(report.kept == [.known: 2] && report.id == nil)
        let now = DatabaseTime(
            microsecondsSince1970: try required(
                try await fixture.sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
            )
        )
        let timed = try await run(fixture, [Self.row("ben", at: now), Self.row("cleo")], batches: 2)
        #expect(timed.moved == 1 && timed.kept == [.known: 1])
        #expect(try await state(fixture) == "ada token_moved, ben on")
    }

    @Test("An import is undone, except for what has changed since")
    func undo() async throws {
        let fixture = try await StoreFixture.make()
        let tokens = (0..<4).map { String(repeating: "0\($0)", count: 32) }
        var first = tokens.prefix(3).map { Self.row("ada", token: $0) }
        first[1].locale = "fr"
        try await run(fixture, first)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = push_token = '\(tokens[2])'")
        let before = try await state(fixture)
        var second = tokens.map { Self.row("ada", token: $0) }
        second[0].userKey = "ben"
        second[1].locale = "de"
        let report = try await run(fixture, second, age: .now, bringsBack: [.optedOut])
        #expect(report.created == 1 && report.moved == 1 && report.updated == 1 && report.returned == [.optedOut: 1])
        let id = try required(report.id)
        #expect(try await fixture.store.imports().first?.changes == 5)
        var undone = try await fixture.store.undoImport(id)
        #expect(undone.removed == 2 && undone.restored == 3 && undone.left == 0)
        #expect(try await state(fixture) == before)
        undone = try await fixture.store.undoImport(id)
        #expect(undone.removed == 0 && undone.restored == 0)
        // Later changes are kept.
        let third = try required(try await run(fixture, second, age: .now).id)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE user_key = 'ben'")
        undone = try await fixture.store.undoImport(third)
        #expect(undone.left == 2, "ben's, and ada's, whose token ben has")
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE user_key = 'ben' AND enabled AND opted_out"
            ) == 1
        )
    }

    @Test("An undo skips rows that another transaction locks, and undoes them the next time")
    func heldUndo() async throws {
        let fixture = try await StoreFixture.make()
        let rows = [Self.row("ada"), Self.row("ben", token: String(repeating: "b", count: 64))]
        let id = try required(try await run(fixture, rows).id)
        let other = try await fixture.database.connect()
        try await other.run(script: "BEGIN; SELECT FROM pushmta_engine.subscription WHERE user_key = 'ada' FOR UPDATE")
        var undone = try await fixture.store.undoImport(id)
        #expect(undone.removed == 1 && undone.left == 1)
        try await other.run(script: "ROLLBACK")
        await other.close()
        undone = try await fixture.store.undoImport(id)
        #expect(undone.removed == 1 && undone.left == 0)
    }

    @Test("After a day an import cannot be undone, and its undo data is deleted; it never contains a forgotten user")
    func oldImports() async throws {
        let fixture = try await StoreFixture.make()
        try await run(fixture, [Self.row("ada")])
        let id = try required(try await run(fixture, [Self.row("ada")], age: .now).id)
        _ = try await fixture.store.forgetUser(service: "shop", userKey: "ada")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription_import_change") == 0)
        try await fixture.sql("UPDATE pushmta_engine.subscription_import SET started_at = now() - interval '25 hours'")
        await #expect(throws: StoreError.self) { try await fixture.store.undoImport(id) }
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM (SELECT pushmta_engine.purge_imports(10) AS n FROM generate_series(1, 3)) p WHERE p.n > 0"
            ) == 2
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription_import") == 0)
    }
}
