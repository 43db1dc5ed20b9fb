import Foundation
import Testing

@testable import Administration
@testable import Laboratory
@testable import Store
@testable import pushmta

/// A campaign's life in SQL alone: scripts that `psql` runs as members of `pushmta_marketing`, with a supervisor, its
/// children, a feedback worker and gateways behind the database.
@Suite struct SQLWalkTests {
    private static let folder = ProjectFolder.path + "/Tests/EndToEndTests/Walks"
    /// What the scripts include.
    private static let support = "support.sql"
    private static let subscribers: Int64 = 60
    private static let service = "walk"

    @Test func eachFeatureWorksInSQLAlone() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        let scripts = names.filter { $0.hasSuffix(".sql") && $0 != Self.support }.sorted()
        #expect(scripts.count >= 12, "\(Self.folder) has \(scripts)")
        // No step may wait for the look of an idle supervisor.
        try await DeliverySite.with(subscribers: 1, poolPeriod: 600) { site in
            try await site.testSite.startFeedback()
            var audience = site.audience
            audience.prefix = Self.service
            let applications = try await audience.create()
            try await audience.seed(applications, count: Self.subscribers)
            let cluster = site.testSite.cluster
            // Two colleagues, and an operator for what is an operator's to set.
            try await cluster.recreateUser("walk_maker", memberOf: "pushmta_marketing")
            try await cluster.recreateUser("walk_colleague", memberOf: "pushmta_marketing")
            try await cluster.recreateUser("walk_operator", memberOf: "pushmta_runtime")
            let values = [
                "service=\(Self.service)", "application=\(applications[0])",
                "applications={\(applications.joined(separator: ","))}", "subscribers=\(Self.subscribers)",
                "maker=walk_maker", "colleague=walk_colleague", "operator=walk_operator",
                "owner=\(PrivateCluster.role)", "ON_ERROR_STOP=1",
            ]
            let database = cluster.connectionString(TestSite.databaseName, host: cluster.folder, user: "walk_maker")
            let psql = Program(path: try PrivateCluster.program("psql"))
            for script in scripts {
                let options = ["-X", "-q", "-o", "/dev/null"] + values.flatMap { ["-v", $0] }
                let ending = try await psql.run(options + ["-f", Self.folder + "/" + script, database])
                #expect(ending.status == 0, "\(script): \(ending.errors)")
                // What it set for the service would confuse the next one.
                guard ending.status == 0 else { break }
            }
        }
    }
}
