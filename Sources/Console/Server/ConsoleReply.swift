enum ConsoleReply: Sendable {
    /// A page: its template and its values.
    case page(ConsolePage)
    /// A redirect to another path, which is fetched with GET.
    case redirect(String, cookies: [String] = [])
    /// A file that may be cached permanently, as its path changes with its contents.
    case file(text: String, type: String)
    /// A download, written while it is made.
    case download(
        name: String,
        type: String,
        run: @Sendable (_ send: (String) async throws -> Void) async throws -> Void
    )
    /// An uploaded PNG image. A browser may cache it for a day if its path changes with it.
    case image([UInt8], isKept: Bool)
    /// Events for as long as the page is open.
    case events(@Sendable (_ send: (LiveEvent) async throws -> Void) async throws -> Void)
}
