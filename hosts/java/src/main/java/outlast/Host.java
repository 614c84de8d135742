package outlast;

/** Answers the three host functions; an empty answer is that it failed. */
interface Host {
  default String now() {
    return "";
  }

  default String sleep(String action) {
    return "";
  }

  default String attempt(String action) {
    return "";
  }

  /** A host that fails. */
  Host SILENT = new Host() {};
}
