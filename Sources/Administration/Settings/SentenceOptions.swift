import ArgumentParser

/// The flag of commands that report in sentences what they did.
package struct SentenceOptions: ParsableArguments {
    package init() {}

    @Flag(help: "Print JSON: an object with the sentences as messages, and the ids and numbers that they are about.")
    package var json = false
}
