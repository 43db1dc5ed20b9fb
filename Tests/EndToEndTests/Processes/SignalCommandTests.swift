import Foundation
import PostgresClient
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// Health signals, as operators type them.
@Suite struct SignalCommandTests: CommandSuite {
    let site: CommandSite

    init() async throws { site = try await CommandSite() }

    /// Creates what a delivery needs, and a delivery; returns its id.
    private func delivery() async throws -> String {
        let connection = try await database.connect()
        try await connection.run(
            script: """
                CREATE SCHEMA backend;
                CREATE FUNCTION backend.load() RETURNS double precision LANGUAGE sql AS 'SELECT 0.25::double precision';
                GRANT USAGE ON SCHEMA backend TO pushmta_signal;
                INSERT INTO pushmta_engine.delivery (label, kind, content) VALUES ('Sale', 'batch', '{}');
                """
        )
        let result = try await connection.execute(
            PostgresStatement("SELECT max(id)::text FROM pushmta_engine.delivery", prepare: false)
        )
        await connection.close()
        return try result.text(0, 0)
    }

    @Test func aSignalIsDefinedReadFollowedAndDropped() async throws {
        let id = try await delivery()
        try await run("signal", "set", "load", "sql", "backend.load()", "--reaction", "3")
        #expect(try await run("signal", "list", "--json").output.contains("backend.load()"))
        #expect(try await run("signal", "test", "load").output.contains("Signal load is 0.25"))
        try await run("delivery", "follow", id, "load", "--target", "0.8", "--floor", "10", "--ceiling", "500")
        let shown = try await run("delivery", "follow", id).output
        #expect(shown.contains("follows signal load") && shown.contains("(idle)"), "\(shown)")
        try await run("delivery", "rate", id, "5", expect: 65)
        try await run("signal", "drop", "load", expect: 65)
        #expect(try await run("delivery", "follow", id, "--none").output.contains("follows no signal"))
        try await run("signal", "drop", "load")
    }

    @Test func whatCannotBeReadSaysWhy() async throws {
        let set = try await run("signal", "set", "far", "http", "https://metrics.example/load")
        #expect(set.output.contains("mta.signals.allowedAddresses"), "\(set.output)")
        let read = try await run("signal", "test", "far", expect: 65)
        #expect(read.errors.contains("mta.signals.allowedAddresses"), "\(read.errors)")
        try await run("signal", "test", "none", expect: 65)
        try await run("signal", "set", "bad", "http", "ftp://a", expect: 65)
        try await run("signal", "set", "bad", "pigeon", "a", expect: 64)
        try await run("delivery", "follow", "1", "far", "--target", "0.8", expect: 64)
    }
}
