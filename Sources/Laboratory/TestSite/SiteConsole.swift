import Administration
import PushCore
import Store

/// The console of a test site: where it is, and who signs in first.
struct SiteConsole: Sendable {
    /// The user of the database with the rights of a console and no others, as the console's guide has it.
    static let databaseUser = "console"
    /// The first user of the console, who may do everything there.
    static let firstUser = "quickstart"

    /// Its base address.
    let address: String
    /// The first user's password, which is good for choosing another.
    let password: String

    /// Makes the console's user of the database and its own first user, and starts it.
    ///
    /// - Parameter settings: The site's, with a port for the console.
    static func open(_ site: TestSite, _ settings: Settings) async throws -> SiteConsole {
        try await site.cluster.recreateUser(databaseUser, memberOf: Store.consoleRole)
        let words = ["console", "user", "add", firstUser, "--role", ConsoleRole.admin.rawValue, "--one-time"]
        let printed = try await site.host.run(words)
        try await site.host.start(site.console, "console")
        let address = "http://\(settings.console.address):\(settings.console.port)"
        try await site.wait(for: site.console, toServe: address + "/sign-in")
        return SiteConsole(address: address, password: String(printed.prefix { !$0.isNewline }))
    }
}
