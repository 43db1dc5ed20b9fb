/// A database that is prepared once in a run and cloned for each test.
public struct TestTemplate: Sendable {
    /// Its name, unique in the run.
    let name: String
    /// Fills the new database, given its connection string.
    let prepare: @Sendable (String) async throws -> Void

    /// Whether it has objects in the place of PostgreSQL's own, see ``ShadowNames``.
    var hasShadows = false

    /// Describes a template; `prepare` gets the new database's connection string and must close its connections.
    public init(name: String, prepare: @escaping @Sendable (String) async throws -> Void) {
        self.name = name
        self.prepare = prepare
    }

    /// A database with nothing in it.
    public static let empty = TestTemplate(name: "template_empty") { _ in }
}
