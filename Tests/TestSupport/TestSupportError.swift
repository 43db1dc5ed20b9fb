/// Why the environment of a test could not be set up.
package struct TestSupportError: Error, CustomStringConvertible {
    /// What failed, and what to do.
    package let description: String

    package init(_ description: String) { self.description = description }
}
