import Administration
import PushCore
import Store

/// A test site's console: its address and its first user.
struct SiteConsole: Sendable {
    /// The database user with exactly the privileges of a console, as in the console's guide.
    static let databaseUser = "console"
    /// The console's first user, who has all rights.
    static let firstUser = "quickstart"

    /// The console's base address.
    let address: String
    /// The first user's one-time password.
    let password: String

    /// Creates the console's database user and first user, and starts the console.
    ///
    /// - Parameter settings: The site's settings, with a port for the console.
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
