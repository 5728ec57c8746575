"""What ``cv doctor`` looks at, a small function each: it returns findings and changes nothing."""
