/// A database that is prepared once in a run and cloned for each test.
package struct TestTemplate: Sendable {
    /// Its name, unique in the run.
    let name: String
    /// Fills the new database, given its connection string.
    let prepare: @Sendable (String) async throws -> Void

    /// Whether it has objects that shadow PostgreSQL's own; see ``ShadowNames``.
    var hasShadows = false

    /// Describes a template; `prepare` gets the new database's connection string and must close its connections.
    package init(name: String, prepare: @escaping @Sendable (String) async throws -> Void) {
        self.name = name
        self.prepare = prepare
    }

    /// An empty database.
    package static let empty = TestTemplate(name: "template_empty") { _ in }
}
